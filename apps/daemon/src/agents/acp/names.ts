/** The name of a message of an agent whose sessions are read by replay: the same in a live turn. `part`: from 1, one more per tool call. */
export const listedName = (role: 'USER' | 'AGENT', messageId: string, part: number): string =>
  part === 1 ? `${role} ${messageId}` : `${role} ${messageId} ${part}`;
