/**
 * Every close code that the relay sends (rules, 13.1): number, reason, and whether the peer should reconnect. Their
 * meaning is only for documents (`documents/close-meanings.ts`): clients, which have this table, never show it.
 */
export const closeCodes = {
  normal: { code: 1000, reason: 'normal', comeBack: true },
  goingAway: { code: 1001, reason: 'going away', comeBack: true },
  unexpected: { code: 1002, reason: 'initialize must come first', comeBack: true },
  binary: { code: 1003, reason: 'binary frame', comeBack: true },
  invalidUtf8: { code: 1007, reason: 'invalid UTF-8', comeBack: true },
  flooding: { code: 1008, reason: 'too many control frames', comeBack: true },
  tooBig: { code: 1009, reason: 'frame too big', comeBack: true },
  internal: { code: 1011, reason: 'internal error', comeBack: true },
  overloaded: { code: 1013, reason: 'overloaded or too slow', comeBack: true },
  malformed: { code: 4400, reason: 'malformed frames', comeBack: true },
  credential: { code: 4401, reason: 'credential invalid, expired or revoked', comeBack: false },
  forbidden: { code: 4403, reason: 'forbidden', comeBack: false },
  deviceDeleted: { code: 4404, reason: 'device deleted', comeBack: false },
  heartbeat: { code: 4408, reason: 'heartbeat timeout', comeBack: true },
  replaced: { code: 4409, reason: 'replaced by a newer connection', comeBack: false },
  updateRequired: { code: 4426, reason: 'update required', comeBack: false },
  tooMany: { code: 4429, reason: 'too many frames', comeBack: true },
} as const satisfies Record<string, { code: number; reason: string; comeBack: boolean }>;

export type CloseReason = keyof typeof closeCodes;
