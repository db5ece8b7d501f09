/** The addresses for peers of the relay: one instance after the other, or HAProxy. */
import { readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { type Cluster } from '@relay/testing';
import type { Chance } from './chance.ts';

export interface Doors {
  api(): string;
  gateway(): string;
  readonly ca: Buffer | undefined;
}

/**
 * Any api, even a dead one: a client without a connection tries another. Daemons get the gateways in turn: each attempt
 * at a frozen one takes a handshake of 15 s, and six random ones in a row exceeded the patience of a test.
 */
export function direct(cluster: Pick<Cluster, 'apis' | 'gateways'>, chance: Chance): Doors {
  let turn = chance.below(cluster.gateways.length);
  return {
    api: () => chance.pick(cluster.apis).url,
    gateway: () => cluster.gateways[(turn += 1) % cluster.gateways.length]!.url,
    ca: undefined,
  };
}

export function throughHaproxy({ haproxy }: Cluster): Doors {
  if (!haproxy) throw new TypeError('this cluster has no HAProxy');
  return { api: () => haproxy.url, gateway: () => haproxy.url, ca: readFileSync(haproxy.certificate) };
}

export interface Reply {
  status: number;
  text: string;
  headers: Record<string, string | string[] | undefined>;
}

/**
 * Sends one request on its own connection. Rejects when the connection breaks, or after `patienceMs` without a
 * response.
 */
export function ask(
  url: string,
  method: string,
  options: { token: string; body?: unknown; key?: string; ca: Buffer | undefined; patienceMs: number },
): Promise<Reply> {
  const payload = options.body === undefined ? undefined : JSON.stringify(options.body);
  const send = url.startsWith('https') ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      {
        method,
        agent: false,
        signal: AbortSignal.timeout(options.patienceMs),
        ...(options.ca ? { ca: options.ca } : {}),
        headers: {
          Authorization: `Bearer ${options.token}`,
          ...(options.key === undefined ? {} : { 'Idempotency-Key': options.key }),
          ...(payload === undefined
            ? {}
            : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString('utf8'),
            headers: response.headers,
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(payload);
  });
}

/** The code of an error body, or an empty string: bodies of a load balancer have none. */
export const codeOf = (body: string): string => {
  try {
    return (JSON.parse(body) as { code?: string }).code ?? '';
  } catch {
    return '';
  }
};
