/** The entry for browsers, and for every other runtime with `fetch` and `WebSocket` except Node. */
import { type Client, type ClientOptions, clientOn } from './client.ts';
import { type WebSocketConstructor, standardSocket } from './socket.ts';

export * from './shared.ts';

/** Together with ten seconds for the answer and five between checks, a dead connection is detected within 40 s. */
const silenceMs = 25_000;

/** @throws TypeError if the address is not http or https, or if both `token` and `getToken` are set */
export function createClient(options: ClientOptions): Client {
  const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor };
  return clientOn({ open: WebSocket && standardSocket(WebSocket), onWake, silenceMs }, options);
}

interface Page extends Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>> {
  document?: EventTarget & { readonly visibilityState: string };
}

/**
 * Listens to a browser's signals about network and visibility: they avoid waiting on a dead connection. Returns a function that stops
 * listening. Outside a page, the listener is never called.
 */
function onWake(listener: (sign: 'back' | 'away') => void): () => void {
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
