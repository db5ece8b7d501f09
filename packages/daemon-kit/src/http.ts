/**
 * One HTTP exchange with bounds: of time and of size, on a connection of its own, never redirected. Not the runtime's `fetch`: in
 * Node.js 20 that waits for its time-out when a peer closes the connection at once, as a port forwarder without a listener does.
 */
import { type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { proxyAgentFor } from '@relay/protocol/proxy';

export interface Exchange {
  method: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** The limit from the first byte of the request to the last byte of the answer. */
  timeoutMs: number;
  /** Longer answers are refused. */
  maxBytes?: number;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

const defaultMaxBytes = 64 * 1024;

/**
 * Returns the whole answer, whatever its status. Rejects with the system's error, or with a sentence, if the server does not
 * answer.
 */
export function exchange(
  url: string,
  { method, headers = {}, body, timeoutMs, maxBytes = defaultMaxBytes }: Exchange,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? secureRequest : plainRequest;
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const sent = send(url, { method, agent: proxyAgentFor(url) ?? false, headers: { ...headers, ...length } });
    let late: Error | undefined;
    let hasAnswer = false;
    const timer = setTimeout(() => {
      late = new Error(`no answer within ${timeoutMs / 1000} s`);
      sent.destroy(late);
    }, timeoutMs);
    const settle = (give: () => void) => {
      clearTimeout(timer);
      give();
      sent.destroy();
    };
    sent.on('response', (response) => {
      hasAnswer = true;
      textOf(response, maxBytes).then(
        (text) => settle(() => resolve({ status: response.statusCode ?? 0, headers: response.headers, text })),
        (error: unknown) => settle(() => reject(late ?? (error as Error))),
      );
    });
    sent.on('upgrade', ({ statusCode = 0, headers: answered }, socket) => {
      socket.destroy();
      settle(() => resolve({ status: statusCode, headers: answered, text: '' }));
    });
    sent.on('error', (error) => settle(() => reject(error)));
    // Node closes a connection without an error where nothing takes the answer.
    sent.on('close', () => {
      if (!hasAnswer) settle(() => reject(late ?? new Error('the connection was closed')));
    });
    sent.end(body);
  });
}

async function textOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
