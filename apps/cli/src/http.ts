/**
 * One HTTP exchange with a time-out and a size limit, on its own connection, without redirects. The runtime's `fetch` would wait for its
 * time-out if a peer closes the connection at once, like a port forwarder whose server is down.
 */
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { proxyAgentFor } from '@relay/protocol/proxy';

export interface Exchange {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array | undefined;
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

const maxReplyBytes = 128 * 1024 * 1024;
const bodiless = new Set([204, 205, 304]);

/** Resolves with the whole answer, for every status. Rejects with the system's error if no answer arrives. */
export function exchange(url: URL, { method, headers, body, timeoutMs, signal }: Exchange): Promise<Response> {
  const request = url.protocol === 'https:' ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      agent: proxyAgentFor(url.href) ?? false,
      ...(signal ? { signal } : {}),
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
      },
    });
    const late = (afterMs: number) => sent.destroy(new Error(`no answer within ${afterMs / 1000} s`));
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs, timeoutMs);
    sent.on('response', (response) => {
      bytesOf(response)
        .then((bytes) => resolve(answerOf(response, bytes)))
        .catch(reject)
        .finally(() => {
          clearTimeout(timer);
          sent.destroy();
        });
    });
    sent.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sent.end(body);
  });
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxReplyBytes) throw new Error(`the answer exceeds ${maxReplyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function answerOf({ statusCode = 0, headers }: IncomingMessage, bytes: Buffer): Response {
  if (statusCode < 200 || statusCode > 599) throw new Error(`it answered ${statusCode}`);
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) kept.set(name, Array.isArray(value) ? value.join(', ') : value);
  return new Response(bodiless.has(statusCode) ? null : new Uint8Array(bytes), { status: statusCode, headers: kept });
}
