/** Components that are loaded when they are used. One that cannot be loaded takes nothing else from the page. */
import { type ComponentType, lazy, useEffect, useState } from 'react';
import { Refusal } from '../api/refusal.ts';
import { Problem } from './notice.tsx';

/** Browsers remember of a script that it failed, until the whole page is loaded again. */
const loadAgain = () => {
  // Without a network there would be no page at all.
  fetch(window.location.href, { cache: 'no-store' }).then(
    () => window.location.reload(),
    () => undefined,
  );
};

/** In the place of a part that the person asked for. */
export const Unloaded = () => <Problem refusal={new Refusal('OFFLINE', '')} onRetry={loadAgain} />;
/** In the place of a page. */
export const UnloadedPage = () => (
  <main className="page" id="main">
    <Unloaded />
  </main>
);
/** In the place of one that the page can do without. */
export const Nothing = () => null;

/**
 * A component that `load` fetches. When that fails, `Instead` is shown, and the next use tries again. `ready`: the component, when it has
 * been fetched already.
 */
export function loadedLater<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Instead: ComponentType = Nothing,
  ready: () => ComponentType<Props> | undefined = () => undefined,
): ComponentType<Props> {
  const make = () => lazy(async () => ({ default: await load().catch(() => Failed) }));
  let current = make();
  function Failed() {
    useEffect(() => () => void (current = make()), []);
    return <Instead />;
  }
  return function Later(props: Props) {
    // A component that is here renders at once: React delays a lazy one by 300 ms, and words that come meanwhile are not announced.
    const [Part] = useState<ComponentType<Props>>(() => ready() ?? current);
    return <Part {...props} />;
  };
}
