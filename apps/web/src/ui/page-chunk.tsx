/** Pages that are loaded when they are needed, with their words. */
import { type ComponentType, type LazyExoticComponent, lazy, useState } from 'react';
import { type Part, loadWords } from '../catalogue.ts';

interface PageChunk<Pages> {
  /** Loads it before it is needed. */
  ahead: () => void;
  /** One of its pages. */
  page: <Props extends object>(choose: (pages: Pages) => ComponentType<Props>) => ComponentType<Props>;
}

export function pageChunk<Pages>(part: Part, load: () => Promise<Pages>): PageChunk<Pages> {
  let loaded: Pages | undefined;
  let loading: Promise<Pages> | undefined;
  const start = () => {
    loading ??= Promise.all([load(), loadWords(part)]).then(([pages]) => (loaded = pages));
    loading.catch(() => (loading = undefined));
    return loading;
  };
  return {
    ahead: () => void start().catch(() => undefined),
    page: <Props extends object>(choose: (pages: Pages) => ComponentType<Props>): ComponentType<Props> => {
      const Lazy: LazyExoticComponent<ComponentType<Props>> = lazy(async () => ({ default: choose(await start()) }));
      // When it is loaded it is there at once: React holds back what was lazy for 300 ms, and what an agent says then is not heard.
      return function Loaded(props: Props) {
        const [Page] = useState<ComponentType<Props>>(() => (loaded === undefined ? Lazy : choose(loaded)));
        return <Page {...props} />;
      };
    },
  };
}
