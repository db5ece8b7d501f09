/** Questions and sentences of a daemon in the language of the pages. Knows their texts once they are loaded. */
import { useEffect, useState } from 'react';
import { loadWords } from '../catalogue.ts';
import type * as OwnTexts from './own-texts.ts';

let ours: typeof OwnTexts | undefined;

/** The texts in the language of the pages, once they are loaded. */
export function useOurs(isNeeded: boolean): typeof ours {
  const [, setLoaded] = useState(ours !== undefined);
  useEffect(() => {
    if (!isNeeded || ours) return;
    Promise.all([import('./own-texts.ts'), loadWords('asks')]).then(
      ([module]) => {
        ours = module;
        setLoaded(true);
      },
      () => undefined,
    );
  }, [isNeeded]);
  return isNeeded ? ours : undefined;
}

/** The question in our words if its daemon gives a reason; until they are loaded, and offline, as the daemon wrote it. */
export function useOwnTexts<P extends OwnTexts.PromptTexts | undefined>(prompt: P): P {
  const own = useOurs(prompt?.reason !== undefined);
  return prompt && own ? own.inOwnTexts(prompt) : prompt;
}
