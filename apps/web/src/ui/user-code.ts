import { foldedCode } from '@relay/protocol/plain';

/** Codes that machines show (rules, 7.4): eight letters, written in two halves, read with patience. */
const length = 8;

const plainCode = (typed: string): string => foldedCode(typed).slice(0, length);

/** Formats a code as shown: `XXXX-XXXX`. */
export const shownCode = (typed: string): string => {
  const plain = plainCode(typed);
  return plain.length > length / 2 ? `${plain.slice(0, length / 2)}-${plain.slice(length / 2)}` : plain;
};

export const isWhole = (typed: string): boolean => plainCode(typed).length === length;
