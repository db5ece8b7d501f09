/** Every close code that the relay sends (rules, 13.1): number, reason, and whether the peer may come back. */
export const closeCodes = {
  normal: { code: 1000, reason: 'normal', comeBack: true, meaning: 'The conversation is over.' },
  goingAway: { code: 1001, reason: 'going away', comeBack: true, meaning: 'This instance drains; connect again.' },
  unexpected: {
    code: 1002,
    reason: 'initialize must come first',
    comeBack: true,
    meaning:
      'The first message of an ACP client was another one than `initialize`; or a breach of the WebSocket protocol.',
  },
  binary: { code: 1003, reason: 'binary frame', comeBack: true, meaning: 'Only text frames are spoken here.' },
  invalidUtf8: { code: 1007, reason: 'invalid UTF-8', comeBack: true, meaning: 'A text frame was not valid UTF-8.' },
  flooding: {
    code: 1008,
    reason: 'too many control frames',
    comeBack: true,
    meaning: 'More WebSocket control frames, or pieces of one frame, than a peer needs.',
  },
  tooBig: {
    code: 1009,
    reason: 'frame too big',
    comeBack: true,
    meaning: 'A frame exceeded the limit of this endpoint.',
  },
  internal: { code: 1011, reason: 'internal error', comeBack: true, meaning: 'A fault of the relay.' },
  overloaded: {
    code: 1013,
    reason: 'overloaded or too slow',
    comeBack: true,
    meaning: 'Back off, then connect again.',
  },
  malformed: { code: 4400, reason: 'malformed frames', comeBack: true, meaning: 'Three malformed frames within 60 s.' },
  credential: {
    code: 4401,
    reason: 'credential invalid, expired or revoked',
    comeBack: false,
    meaning: 'Get a new credential first.',
  },
  forbidden: { code: 4403, reason: 'forbidden', comeBack: false, meaning: 'This credential may not do that.' },
  deviceDeleted: {
    code: 4404,
    reason: 'device deleted',
    comeBack: false,
    meaning: 'The device was removed; register again.',
  },
  heartbeat: { code: 4408, reason: 'heartbeat timeout', comeBack: true, meaning: 'Nothing was heard for 75 s.' },
  replaced: {
    code: 4409,
    reason: 'replaced by a newer connection',
    comeBack: false,
    meaning: 'The same device connected again elsewhere.',
  },
  updateRequired: {
    code: 4426,
    reason: 'update required',
    comeBack: false,
    meaning: 'This version of the daemon is too old; the `version_status` before says what to update to.',
  },
  tooMany: {
    code: 4429,
    reason: 'too many frames',
    comeBack: true,
    meaning: 'More than 200 frames a second from a daemon, or than `APP_FRAMES_PER_SECOND` from an app; back off.',
  },
} as const satisfies Record<string, { code: number; reason: string; comeBack: boolean; meaning: string }>;

export type CloseReason = keyof typeof closeCodes;
