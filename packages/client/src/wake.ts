/** A browser's signals about network and visibility: they avoid waiting on a dead connection. */

interface Page extends Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>> {
  document?: EventTarget & { readonly visibilityState: string };
}

/** Returns a function that stops listening. Outside a page, the listener is never called. */
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
