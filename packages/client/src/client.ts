/** The client as one value: a base address, a credential, and what the runtime brings along. */
import type { RouteName } from '@relay/protocol';
import { type CallArguments, type Output, createCall } from './call.ts';
import type { AttentionOptions } from './items.ts';
import { type Answer, defaultTimeoutMs } from './request.ts';
import { type OpenSocket, type WebSocketConstructor, standardSocket } from './socket.ts';
import { AttentionStream, type StreamDeps } from './stream.ts';
import { createGetTicket } from './ticket.ts';
import { type GetToken, createTokens } from './token.ts';

export interface ClientOptions {
  /** Address of the relay, with its path if it has one: `https://relay.example.com`. */
  baseUrl: string;
  /** An access token that is never renewed. */
  token?: string;
  /** Instead of `token`: called for each request, again with `refused` when the relay did not accept one. */
  getToken?: GetToken;
  /** Default: the one of the runtime. */
  fetch?: typeof fetch;
  /** Default: that of the browser; in Node the package `ws`. With one of your own, streams get tickets as in a browser. */
  WebSocket?: WebSocketConstructor;
  /** For each attempt of a call. Default 30 s. */
  timeoutMs?: number;
  /** How often a call that is safe to repeat is tried again after a passing failure. Default 2. */
  retries?: number;
}

export interface Client {
  /** Address of the relay without a slash at the end. */
  readonly url: string;
  /**
   * Calls a route by name; resolves with the body of the success.
   * @throws RelayError, NetworkError, TimeoutError, BadAnswerError; what `getToken` throws; the reason of `signal`
   */
  call<N extends RouteName>(name: N, ...input: CallArguments<N>): Promise<Output<N>>;
  /** The same with status and headers, such as `Idempotent-Replay`. */
  request<N extends RouteName>(name: N, ...input: CallArguments<N>): Promise<Answer<Output<N>>>;
  /**
   * The live frames of the person, as an async iterable that connects when it is first read and again after every outage. It ends
   * by `break`, `return()` or the signal; it throws when connecting again cannot help (docs/errors.md, close codes).
   */
  attention(options?: AttentionOptions): AttentionStream;
}

interface Runtime {
  /** Absent where there is no WebSocket. */
  open: OpenSocket | undefined;
  onWake?: StreamDeps['onWake'];
  silenceMs?: StreamDeps['silenceMs'];
}

/** @throws TypeError for an address that is not http or https, and for both kinds of credential at once */
export function clientOn(runtime: Runtime, options: ClientOptions): Client {
  const { token, getToken, fetch, WebSocket, timeoutMs = defaultTimeoutMs, retries = 2 } = options;
  const { protocol, origin, pathname } = new URL(options.baseUrl);
  if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError('baseUrl must begin with http:// or https://');
  if (token !== undefined && getToken) throw new TypeError('Give token or getToken, not both.');
  const url = `${origin}${pathname.replace(/\/+$/, '')}`;
  const tokens = createTokens(token, getToken);
  const request = createCall({ url, tokens, fetch, timeoutMs, retries });
  return {
    url,
    request,
    call: async (...input) => (await request(...input)).body,
    attention: (wish = {}) => {
      const open = WebSocket ? standardSocket(WebSocket) : runtime.open;
      if (!open) throw new TypeError('There is no WebSocket here: pass one to createClient.');
      const ticket = createGetTicket(async (how) => (await request('createTicket', how)).body.ticket);
      return new AttentionStream(
        { url, tokens, open, ticket, onWake: runtime.onWake, silenceMs: runtime.silenceMs },
        wish,
      );
    },
  };
}
