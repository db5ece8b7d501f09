/** Pages that are loaded on demand, with their texts. */
import type { ComponentType } from 'react';
import { type CataloguePart, loadWords } from '../catalogue.ts';
import { UnloadedPage, loadedLater } from './loaded-later.tsx';

interface PageChunk<Pages> {
  /** Loads it before it is needed. */
  ahead: () => void;
  /** A page of the chunk. `Instead` replaces it if it cannot be loaded; by default an error with a button to try again. */
  page: <Props extends object>(
    choose: (pages: Pages) => ComponentType<Props>,
    Instead?: ComponentType,
  ) => ComponentType<Props>;
}

export function pageChunk<Pages>(part: CataloguePart, load: () => Promise<Pages>): PageChunk<Pages> {
  let loaded: Pages | undefined;
  let loading: Promise<Pages> | undefined;
  const start = () => {
    loading ??= Promise.all([load(), loadWords(part)]).then(([pages]) => (loaded = pages));
    loading.catch(() => (loading = undefined));
    return loading;
  };
  return {
    ahead: () => void start().catch(() => undefined),
    page: (choose, Instead = UnloadedPage) =>
      loadedLater(
        async () => choose(await start()),
        Instead,
        () => loaded && choose(loaded),
      ),
  };
}
