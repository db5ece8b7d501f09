/** Questions of a daemon in the language of the pages. Knows their texts once they are loaded. */
import { useEffect, useState } from 'react';
import { loadWords } from '../catalogue.ts';
import type { Asked, inOwnTexts } from './own-texts.ts';

let ours: typeof inOwnTexts | undefined;

/** The question in our words if its daemon gives a reason; until they are loaded, and offline, as the daemon wrote it. */
export function useOwnTexts<P extends Asked | undefined>(prompt: P): P {
  const isOurs = prompt?.reason !== undefined;
  const [, setLoaded] = useState(ours !== undefined);
  useEffect(() => {
    if (!isOurs || ours) return;
    Promise.all([import('./own-texts.ts'), loadWords('asks')]).then(
      ([{ inOwnTexts }]) => {
        ours = inOwnTexts;
        setLoaded(true);
      },
      () => undefined,
    );
  }, [isOurs]);
  return prompt && isOurs && ours ? ours(prompt) : prompt;
}
