/** The output of a program: dark in both themes, its last lines first. */
import { memo, useEffect, useMemo, useState } from 'react';
import { words } from '../../catalogue.ts';
import { CopyButton } from '../markdown/copy-button.tsx';
import { type TermStretch, plainOutput } from './terminal-text.ts';

const lastLines = 12;

type Colours = (text: string) => TermStretch[][];
let coloursOf: Colours | undefined;
const loadColours = async (): Promise<Colours> => (coloursOf ??= (await import('./terminal-colours.ts')).colouredLines);

/** Lines, at first without their colours: as many, and as high. */
function useLines(text: string): TermStretch[][] {
  const [known, setKnown] = useState(() => coloursOf);
  const isWanted = !known && text.includes('\u001b[');
  useEffect(() => {
    if (!isWanted) return;
    loadColours().then(
      (loaded) => setKnown(() => loaded),
      () => undefined,
    );
  }, [isWanted]);
  return useMemo(
    () =>
      known && text.includes('\u001b[')
        ? known(text)
        : plainOutput(text)
            .split('\n')
            .map((line): TermStretch[] => (line === '' ? [] : [[line, '']])),
    [known, text],
  );
}

export const Terminal = memo(function Terminal({ text, left, label }: { text: string; left?: number; label: string }) {
  const lines = useLines(text);
  const [all, setAll] = useState(false);
  const isCut = lines.length > lastLines;
  const shown = all || !isCut ? lines : lines.slice(-lastLines);
  return (
    <div className="term" dir="ltr">
      {isCut && (
        <div className="h">
          <button type="button" className="xs" onClick={() => setAll(!all)}>
            {all ? words.terminal.last : words.terminal.all(lines.length)}
          </button>
        </div>
      )}
      <CopyButton text={plainOutput(text)} label={words.code.copy} className="xs take" />
      <pre tabIndex={0} role="region" aria-label={label}>
        {shown.map((line, index) => (
          <span key={index}>
            {line.map(([piece, classes], at) =>
              classes === '' ? (
                piece
              ) : (
                <span key={at} className={classes}>
                  {piece}
                </span>
              ),
            )}
            {index < shown.length - 1 && '\n'}
          </span>
        ))}
      </pre>
      {left !== undefined && left > 0 && <p className="h faint">{words.terminal.left(left)}</p>}
    </div>
  );
});
