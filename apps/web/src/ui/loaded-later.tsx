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

/** In the place of a component that the page is about. */
export const Unloaded = () => <Problem refusal={new Refusal('OFFLINE', '')} onRetry={loadAgain} />;
/** In the place of one that the page can do without. */
export const Nothing = () => null;

/** A component that `load` brings; where that fails `Instead` is shown, and the next use tries again. `ready`: the component, once it is there anyway. */
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
    // When it is loaded it is there at once: React holds back what was lazy for 300 ms, and what an agent says then is not heard.
    const [Part] = useState<ComponentType<Props>>(() => ready() ?? current);
    return <Part {...props} />;
  };
}
