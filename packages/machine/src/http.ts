/**
 * One HTTP exchange with a time-out and a size limit, through the proxy of this machine, on its own connection, without redirects. The
 * runtime's `fetch` would wait for its time-out if a peer closes the connection at once, like a port forwarder whose server is down.
 */
import { type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { proxyAgentFor } from '@relay/protocol/proxy';
import { Failure, reasonOf, systemCode } from './failure.ts';

interface HttpExchange {
  method?: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
  /** The limit from the first byte of the request to the last byte of the answer. Default: no limit. */
  timeoutMs?: number | undefined;
  /** Longer answers are refused. Default: 64 KiB. */
  maxBytes?: number;
  signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
}

const defaultMaxBytes = 64 * 1024;
/** The largest answer of a relay is the export of an account. */
const maxReplyBytes = 128 * 1024 * 1024;
const bodiless = new Set([204, 205, 304]);

/** Resolves with the whole answer, for every status. Rejects with the system's error, or with a sentence, if no answer arrives. */
export function exchange(
  url: string,
  { method = 'GET', headers, body, timeoutMs, maxBytes = defaultMaxBytes, signal }: HttpExchange = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? secureRequest : plainRequest;
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const sent = send(url, {
      method,
      agent: proxyAgentFor(url) ?? false,
      headers: { ...headers, ...length },
      ...(signal ? { signal } : {}),
    });
    let late: Error | undefined;
    let hasAnswer = false;
    const expire = (afterMs: number) => {
      late = new Error(`no answer within ${afterMs / 1000} s`);
      sent.destroy(late);
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs, timeoutMs);
    const settle = (give: () => void) => {
      clearTimeout(timer);
      give();
      sent.destroy();
    };
    const answer = ({ statusCode: status = 0, headers: answered }: IncomingMessage, bytes: Buffer) =>
      settle(() => resolve({ status, headers: headersOf(answered), body: bytes }));
    sent.on('response', (response) => {
      hasAnswer = true;
      bytesOf(response, maxBytes).then(
        (bytes) => answer(response, bytes),
        (error: unknown) => settle(() => reject(late ?? (error as Error))),
      );
    });
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      answer(response, Buffer.alloc(0));
    });
    sent.on('error', (error) => settle(() => reject(error)));
    // Node closes a connection without an error if nothing reads the answer.
    sent.on('close', () => {
      if (!hasAnswer) settle(() => reject(late ?? new Error('the connection was closed')));
    });
    sent.end(body);
  });
}

/** Returns a `fetch` of such exchanges, for whole answers of a relay. */
export const fetchWithin =
  (timeoutMs?: number): typeof fetch =>
  async (url, { method, headers, body, signal } = {}) => {
    const answer = await exchange(url instanceof Request ? url.url : url.toString(), {
      ...(method === undefined ? {} : { method }),
      headers: headers as Record<string, string> | undefined,
      body: body instanceof URLSearchParams ? body.toString() : (body as string | Uint8Array | undefined),
      timeoutMs,
      maxBytes: maxReplyBytes,
      signal: signal ?? undefined,
    });
    const { status, headers: answered, body: bytes } = answer;
    if (status < 200 || status > 599) throw new Error(`it answered ${status}`);
    return new Response(bodiless.has(status) ? null : new Uint8Array(bytes), { status, headers: answered });
  };

/** The failure of an exchange without an answer: DNS, network, TLS or time-out. `address`: the name of the address for the person. */
export function unreachable(url: string, error: unknown, address: string, exitCode: number): Failure {
  const why = systemCode(error) ?? reasonOf(error);
  return new Failure(
    'UNREACHABLE',
    `Cannot reach ${url} (${why}). ${
      /SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(why)
        ? 'This machine does not trust its certificate. If its authority is your own, set NODE_EXTRA_CA_CERTS to a file with its certificate.'
        : `Is the relay running, and is ${address} right?`
    }`,
    exitCode,
    { cause: error },
  );
}

function headersOf(answered: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answered))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  return headers;
}

async function bytesOf(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
