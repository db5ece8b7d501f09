/** The meaning of each close code, for the documents. */
import { type CloseReason, closeCodes } from '../close-codes.ts';

const closeMeanings: Readonly<Record<CloseReason, string>> = {
  normal: 'The conversation is over.',
  goingAway: 'This instance drains; connect again.',
  unexpected:
    'The first message of an ACP client was another one than `initialize`; or a breach of the WebSocket protocol.',
  binary: 'Only text frames are spoken here.',
  invalidUtf8: 'A text frame was not valid UTF-8.',
  flooding: 'More WebSocket control frames, or pieces of one frame, than a peer needs.',
  tooBig: 'A frame exceeded the limit of this endpoint.',
  internal: 'A fault of the relay.',
  overloaded: 'Back off, then connect again.',
  malformed: 'Three malformed frames within 60 s.',
  credential: 'Get a new credential first.',
  forbidden: 'This credential may not do that.',
  deviceDeleted: 'The device was removed; register again.',
  heartbeat: 'Nothing was heard for 75 s.',
  replaced: 'The same device connected again elsewhere.',
  updateRequired: 'This version of the daemon is too old; the `version_status` before says what to update to.',
  tooMany: 'More than 200 frames a second from a daemon, or than `APP_FRAMES_PER_SECOND` from an app; back off.',
};

/** The table of close codes with their meanings. */
export const describedCloseCodes = Object.entries(closeCodes).map(([name, row]) => ({
  ...row,
  meaning: closeMeanings[name as CloseReason],
}));
