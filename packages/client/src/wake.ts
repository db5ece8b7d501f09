/** What a browser knows about the network and the person: it saves waiting for a connection that is dead already. */

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
