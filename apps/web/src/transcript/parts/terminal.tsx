/** The output of a program: dark in both themes, its last lines first. */
import { memo, useEffect, useMemo, useState } from 'react';
import { words } from '../../catalogue.ts';
import { type WholeText, useWholeText } from '../contents.ts';
import { CopyButton } from '../markdown/copy-button.tsx';
import { type TermStretch, plainOutput } from './terminal-text.ts';

const lastLines = 12;
/** More lines than these are one text, without colours: a page of elements each would stall the browser. */
const mostLines = 5000;

type Colours = (text: string) => TermStretch[][];
let coloursOf: Colours | undefined;
const loadColours = async (): Promise<Colours> => (coloursOf ??= (await import('./terminal-colours.ts')).colouredLines);

/** Lines, at first without their colours: as many, and as high. */
function useLines(text: string): TermStretch[][] {
  const [colours, setColours] = useState(() => coloursOf);
  const isWanted = !colours && text.includes('\u001b[');
  useEffect(() => {
    if (!isWanted) return;
    loadColours().then(
      (loaded) => setColours(() => loaded),
      () => undefined,
    );
  }, [isWanted]);
  return useMemo(
    () =>
      colours && text.includes('\u001b[')
        ? colours(text)
        : plainOutput(text)
            .split('\n')
            .map((line): TermStretch[] => (line === '' ? [] : [[line, '']])),
    [colours, text],
  );
}

interface TerminalProps {
  uuid: string;
  /** All of it, or its head and tail. */
  text: string;
  /** Bytes that are not in the text. */
  left?: number;
  /** The name of the whole output. */
  name?: string;
  label: string;
}

export const Terminal = memo(function Terminal({ uuid, text: shownText, left, name, label }: TerminalProps) {
  const whole = useWholeText(uuid, left !== undefined && left > 0 ? name : undefined);
  const text = whole?.text ?? shownText;
  const lines = useLines(text);
  const [all, setAll] = useState(false);
  const isCut = lines.length > lastLines;
  /** The machine has more of it: one button shows all there is. */
  const isPart = whole !== undefined && whole.text === undefined && whole.state !== 'gone';
  const showAll = () => {
    if (isPart) whole.load();
    setAll(isPart || !all);
  };
  const shown = all || !isCut ? lines : lines.slice(-lastLines);
  return (
    <div className="term" dir="ltr">
      {(isCut || isPart) && (
        <div className="h">
          <button type="button" className="xs" aria-disabled={whole?.state === 'loading'} onClick={showAll}>
            {all && !isPart ? words.terminal.last : isPart ? words.terminal.whole : words.terminal.all(lines.length)}
          </button>
        </div>
      )}
      <CopyButton text={plainOutput(text)} label={words.common.copy} className="xs take" />
      <pre tabIndex={0} role="region" aria-label={label}>
        {shown.length > mostLines && plainOutput(text)}
        {(shown.length > mostLines ? [] : shown).map((line, index) => (
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
      {left !== undefined && left > 0 && whole?.text === undefined && (
        <p className="h faint" role={whole?.state === 'gone' || whole?.state === 'failed' ? 'alert' : undefined}>
          <span>{leftWords(left, whole)}</span>
        </p>
      )}
    </div>
  );
});

function leftWords(left: number, whole: WholeText | undefined): string {
  if (whole?.state === 'gone') return words.terminal.gone;
  return whole?.state === 'failed' ? words.terminal.failed : words.terminal.left(left);
}
