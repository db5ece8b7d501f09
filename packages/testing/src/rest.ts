/** One HTTP call, with nothing hidden: status, headers, and the body as JSON if it is JSON. */
import { request as httpRequest } from 'node:http';

export interface RequestOptions {
  /** Sent as JSON unless `raw` is given. */
  body?: unknown;
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** The parsed body; undefined when there is none. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  body: any;
  text: string;
}

export function send(method: string, url: string, { body, raw, headers = {} }: RequestOptions = {}): Promise<Answer> {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      {
        method,
        agent: false,
        headers: {
          ...(payload === undefined
            ? {}
            : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(payload)) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const isJson = (response.headers['content-type'] ?? '').includes('json') && text !== '';
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            body: isJson ? (JSON.parse(text) as unknown) : undefined,
            text,
          });
        });
      },
    );
    request.on('error', reject);
    request.end(payload);
  });
}
