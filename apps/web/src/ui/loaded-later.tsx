/** Components that are loaded on use. A failed load takes nothing else from the page. */
import { type ComponentType, lazy, useEffect, useState } from 'react';
import { Refusal } from '../api/refusal.ts';
import { Problem } from './notice.tsx';

/** Browsers remember of a script that it failed, until the whole page is loaded again. */
const loadAgain = () => {
  // Reloading offline would lose the page.
  fetch(window.location.href, { cache: 'no-store' }).then(
    () => window.location.reload(),
    () => undefined,
  );
};

/** Replaces a part that the person asked for. */
export const Unloaded = () => <Problem refusal={new Refusal('OFFLINE', '')} onRetry={loadAgain} />;
/** Replaces a page. */
export const UnloadedPage = () => (
  <main className="page" id="main">
    <Unloaded />
  </main>
);
/** Replaces a part that the page can do without. */
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
    // A loaded component renders at once: React delays a lazy one by 300 ms, and text that arrives in that time is not announced.
    const [Part] = useState<ComponentType<Props>>(() => ready() ?? current);
    return <Part {...props} />;
  };
}
