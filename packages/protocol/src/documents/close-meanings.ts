/** The meaning of each close code, for the documents. */
import { type CloseReason, closeCodes } from '../close-codes.ts';

const closeMeanings: Readonly<Record<CloseReason, string>> = {
  normal: 'The connection closed normally.',
  goingAway: 'This instance is draining; connect again.',
  unexpected: 'The first message of an ACP client was not `initialize`, or the peer broke the WebSocket protocol.',
  binary: 'The peer sent a binary frame; this endpoint accepts only text frames.',
  invalidUtf8: 'A text frame was not valid UTF-8.',
  flooding: 'The peer sent too many WebSocket control frames, or too many fragments of one frame.',
  tooBig: 'A frame exceeded the limit of this endpoint.',
  internal: 'The relay failed.',
  overloaded: 'Back off, then connect again.',
  malformed: 'Three malformed frames within 60 s.',
  credential: 'Get a new credential first.',
  forbidden: 'This credential does not allow the request.',
  deviceDeleted: 'The device was removed; register again.',
  heartbeat: 'The relay received nothing for 75 s.',
  replaced: 'The same device opened another connection.',
  updateRequired:
    'This version of the daemon is too old; the preceding `version_status` names the version to update to.',
  tooMany: 'A daemon sent more than 200 frames a second, or an app more than `APP_FRAMES_PER_SECOND`; back off.',
};

/** The table of close codes with their meanings. */
export const describedCloseCodes = Object.entries(closeCodes).map(([name, row]) => ({
  ...row,
  meaning: closeMeanings[name as CloseReason],
}));
