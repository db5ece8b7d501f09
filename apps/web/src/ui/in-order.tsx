/** Commands and paths in the order of their characters (findings, S6). */
import type { ReactNode } from 'react';

/** Letters that run from right to left: the blocks of the scripts that Unicode lists in DerivedBidiClass.txt. */
const rightToLeft = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)/u;

/** Isolates each such word: a browser would swap the arguments or folders between two of them. */
export const inOrder = (text: string): ReactNode =>
  rightToLeft.test(text)
    ? text.split(rightToLeft).map((part, index) => (index % 2 === 1 ? <bdi key={index}>{part}</bdi> : part))
    : text;
