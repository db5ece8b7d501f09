/** One HTTP request, with nothing hidden: status, headers, and the body as received. Knows no route. */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined if the body is not JSON. */
  readonly body: unknown;
  readonly text: string;
}

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string | Buffer | undefined;
}

export interface Http {
  send(method: string, url: string, sent?: Sent): Promise<Answer>;
  close(): void;
}

const patienceMs = 30_000;

export function createHttp(): Http {
  const plain = new HttpAgent({ keepAlive: true, maxSockets: 32 });
  const secure = new HttpsAgent({ keepAlive: true, maxSockets: 32 });

  const send: Http['send'] = (method, url, { headers = {}, payload } = {}) =>
    new Promise((resolve, reject) => {
      const length: Record<string, string> =
        payload === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(payload)) };
      const options = { method, headers: { ...length, ...headers }, timeout: patienceMs };
      const request = url.startsWith('https:')
        ? httpsRequest(url, { ...options, agent: secure })
        : httpRequest(url, { ...options, agent: plain });
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            body: parse(text),
            text,
          });
        });
      });
      request.on('timeout', () => request.destroy(new Error(`${method} ${url} had no answer within ${patienceMs} ms`)));
      request.on('error', reject);
      request.end(payload);
    });

  return {
    send,
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
