/** Signals of a browser about network and visibility: they save waiting for a connection that is already dead. */

interface Page extends Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>> {
  document?: EventTarget & { readonly visibilityState: string };
}

/** Returns how to stop listening. Outside of a page nothing ever comes. */
export function onWake(listener: (sign: 'back' | 'away') => void): () => void {
  const page = globalThis as Page;
  const { document } = page;
  const back = () => listener('back');
  const away = () => listener('away');
  const shown = () => document?.visibilityState === 'visible' && listener('back');
  page.addEventListener?.('online', back);
  page.addEventListener?.('offline', away);
  document?.addEventListener('visibilitychange', shown);
  return () => {
    page.removeEventListener?.('online', back);
    page.removeEventListener?.('offline', away);
    document?.removeEventListener('visibilitychange', shown);
  };
}
