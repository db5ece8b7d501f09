/** A service that takes deliveries on this machine: stores every request, and answers as the test configures. */
import { createDecipheriv, createECDH, hkdfSync, randomBytes, verify, createPublicKey } from 'node:crypto';
import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface PushReceiver {
  /** `127.0.0.1:port`, for PUSH_ALLOWED_HOSTS. */
  readonly host: string;
  readonly url: string;
  readonly received: Received[];
  /** The requests to one path. */
  at(path: string): Received[];
  /** The answer from now on; default 200. */
  answer: (response: ServerResponse, request: Received) => void;
  close(): Promise<void>;
}

export async function startPushReceiver(): Promise<PushReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const whole = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
      received.push(whole);
      receiver.answer(response, whole);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: PushReceiver = {
    host,
    url: `http://${host}`,
    received,
    at: (path) => received.filter((request) => request.path === path),
    answer: (response) => void response.end('{}'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

const derive = (key: Buffer, salt: Buffer, info: Buffer, bytes: number) =>
  Buffer.from(hkdfSync('sha256', key, salt, info, bytes));

/** A browser's keys, and its reading of RFC 8291 and RFC 8188: nothing of the sender is used here. */
export function openPushKeys(): { keys: { p256dh: string; auth: string }; read(body: Buffer): unknown } {
  const pair = createECDH('prime256v1');
  const publicKey = pair.generateKeys();
  const auth = randomBytes(16);
  return {
    keys: { p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') },
    read: (body) => {
      const salt = body.subarray(0, 16);
      const idLength = body[20]!;
      const sender = body.subarray(21, 21 + idLength);
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, sender]);
      const ikm = derive(pair.computeSecret(sender), auth, info, 32);
      const key = derive(ikm, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
      const nonce = derive(ikm, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
      const sealed = body.subarray(21 + idLength);
      const cipher = createDecipheriv('aes-128-gcm', key, nonce);
      cipher.setAuthTag(sealed.subarray(-16));
      const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
      return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString('utf8')) as unknown;
    },
  };
}

/** The claims of a VAPID header (RFC 8292), when its signature is right. */
export function vapidClaims(header: string | undefined): { key: string; claims: Record<string, unknown> } {
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=(.+)$/.exec(header ?? '') ?? [];
  const [head = '', body = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    ...{ kty: 'EC', crv: 'P-256' },
    ...{ x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') },
  };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  const given = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  if (!verify('sha256', Buffer.from(`${head}.${body}`), given, Buffer.from(signature, 'base64url')))
    throw new Error('the signature of the VAPID token is wrong');
  return { key, claims: JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Record<string, unknown> };
}
