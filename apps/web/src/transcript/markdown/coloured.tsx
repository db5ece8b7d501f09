/** Code with colours once they are loaded; until then, and without a grammar, plain text of the same size. */
import { type ReactNode, useEffect, useState } from 'react';
import type { Stretch } from './highlight.ts';

/** More than this stays plain. */
const mostCharacters = 50_000;

const whenIdle = (work: () => void): (() => void) => {
  if (typeof requestIdleCallback === 'function') {
    const id = requestIdleCallback(work, { timeout: 2000 });
    return () => cancelIdleCallback(id);
  }
  const id = setTimeout(work, 200);
  return () => clearTimeout(id);
};

/** The stretches of a text, each with its class; undefined until they are loaded. */
export function useColours(text: string, language: string, wanted: boolean): readonly Stretch[] | undefined {
  const [found, setFound] = useState<{ text: string; stretches: readonly Stretch[] }>();
  const isWanted = wanted && language !== '' && text !== '' && text.length <= mostCharacters;
  useEffect(() => {
    if (!isWanted) return undefined;
    let isCurrent = true;
    const stop = whenIdle(() => {
      void import('./highlight.ts')
        .then(({ highlight }) => highlight(text, language))
        .then(
          (stretches) => isCurrent && stretches && setFound({ text, stretches }),
          // The chunk did not come: plain text is fine.
          () => undefined,
        );
    });
    return () => {
      isCurrent = false;
      stop();
    };
  }, [text, language, isWanted]);
  return isWanted && found?.text === text ? found.stretches : undefined;
}

export function Coloured({ text, language, wanted }: { text: string; language: string; wanted: boolean }): ReactNode {
  const stretches = useColours(text, language, wanted);
  if (!stretches) return text;
  return stretches.map(([words, kind], index) =>
    kind === '' ? (
      words
    ) : (
      <span key={index} className={kind}>
        {words}
      </span>
    ),
  );
}
