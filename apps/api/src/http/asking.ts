/** A request as its handler sees it. One of Express is such a request; another door of this process makes its own (`call-route.ts`). */
import type { IncomingHttpHeaders } from 'node:http';

export interface HandlerRequest {
  readonly headers: IncomingHttpHeaders;
  /** The address of the client, as far as TRUST_PROXY lets the relay know. */
  readonly ip?: string | undefined;
  readonly socket: { readonly remoteAddress?: string | undefined };
  /** A header. */
  get(name: string): string | undefined;
}

/** The headers of its answer. */
export interface Answering {
  getHeader(name: string): unknown;
  setHeader(name: string, value: string): unknown;
}
