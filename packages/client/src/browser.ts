/** The entry for browsers, and for every other runtime with `fetch` and `WebSocket` except Node. */
import { type Client, type ClientOptions, clientOn } from './client.ts';
import { type WebSocketConstructor, standardSocket } from './socket.ts';
import { onWake } from './wake.ts';

export * from './shared.ts';

/** Together with ten seconds for the answer and five between checks, a dead connection is detected within 40 s. */
const silenceMs = 25_000;

/** @throws TypeError if the address is not http or https, or if both `token` and `getToken` are set */
export function createClient(options: ClientOptions): Client {
  const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor };
  return clientOn({ open: WebSocket && standardSocket(WebSocket), onWake, silenceMs }, options);
}
