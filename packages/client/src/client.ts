/** The client: a base address, a credential, and the abilities of the runtime. */
import type { RouteName } from '@relay/protocol';
import { type CallArguments, type Output, createCall } from './call.ts';
import type { AttentionOptions } from './items.ts';
import { type FetchAnswer, defaultTimeoutMs } from './request.ts';
import { type OpenSocket, type WebSocketConstructor, standardSocket } from './socket.ts';
import { AttentionStream, type StreamDeps } from './stream.ts';
import { createGetTicket } from './ticket.ts';
import { type GetToken, createTokens } from './token.ts';

export interface ClientOptions {
  /** Address of the relay, including its path: `https://relay.example.com`. */
  baseUrl: string;
  /** An access token that is never renewed. */
  token?: string;
  /** Replaces `token`: called for each request, and again with `refused` after the relay refuses a token. */
  getToken?: GetToken;
  /** Default: the runtime's `fetch`. */
  fetch?: typeof fetch;
  /** Default: the browser's; in Node the package `ws`. A custom class makes streams use tickets, as in a browser. */
  WebSocket?: WebSocketConstructor;
  /** Per attempt of a call. Default 30 s. */
  timeoutMs?: number;
  /** How often a safe call is retried after a transient failure. Default 2. */
  retries?: number;
}

export interface Client {
  /** Address of the relay without a trailing slash. */
  readonly url: string;
  /**
   * Calls a route by name; resolves with the body of the success.
   * @throws RelayError, NetworkError, TimeoutError, BadAnswerError; errors of `getToken`; the reason of `signal`
   */
  call<N extends RouteName>(name: N, ...input: CallArguments<N>): Promise<Output<N>>;
  /** Like `call`, with status and headers, such as `Idempotent-Replay`. */
  request<N extends RouteName>(name: N, ...input: CallArguments<N>): Promise<FetchAnswer<Output<N>>>;
  /**
   * The user's live frames as an async iterable. It connects on the first read and again after every outage. It stops on `break`, `return()`
   * or the signal, and throws if reconnecting cannot help (docs/errors.md, close codes).
   */
  attention(options?: AttentionOptions): AttentionStream;
}

interface Runtime {
  /** Undefined if the runtime has no WebSocket. */
  open: OpenSocket | undefined;
  onWake?: StreamDeps['onWake'];
  silenceMs?: StreamDeps['silenceMs'];
}

/** @throws TypeError if the address is not http or https, or if both `token` and `getToken` are set */
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
