/** A long text as written, in pieces: the browser lays out only visible pieces. */
import type { ReactNode } from 'react';

const pieceCharacters = 4096;

/** Cut after the last line that fits, else in the middle of an oversized line. */
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
