/** A long text as it is written, in pieces: the browser lays out only those that are in view. */
import type { ReactNode } from 'react';

const pieceCharacters = 4096;

/** Cut behind the last line that fits, else in the middle of one that does not. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const line = text.lastIndexOf('\n', start + pieceCharacters);
    const end =
      text.length - start <= pieceCharacters ? text.length : line > start ? line + 1 : start + pieceCharacters;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

export const PlainText = ({ text }: { text: string }): ReactNode => (
  <div className="plain">
    {piecesOf(text).map((piece, index) => (
      <p key={index}>{piece}</p>
    ))}
  </div>
);
