/** The door for browsers, and for every runtime with `fetch` and `WebSocket` that is not Node. */
import { type Client, type ClientOptions, clientOn } from './client.ts';
import { type WebSocketConstructor, standardSocket } from './socket.ts';
import { onWake } from './wake.ts';

export * from './shared.ts';

/** Ten seconds for the answer and five between looks find a dead line within 40 s. */
const silenceMs = 25_000;

/** @throws TypeError for an address that is not http or https, and for both kinds of credential at once */
export function createClient(options: ClientOptions): Client {
  const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor };
  return clientOn({ open: WebSocket && standardSocket(WebSocket), onWake, silenceMs }, options);
}
