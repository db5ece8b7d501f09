/** Shared by the tests of `/ws/attention`: publishes frames to a user's history, and runs scripted clients. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { type UserFrameKind, encodeUserFrame } from '@relay/protocol';
import type { TestRelay } from '@relay/testing';

/** Publishes numbered frames like a gateway. Resolves with the offset once the entry is in the history. */
export function sayer(relay: TestRelay, user: string) {
  const { backplane } = relay.gateways[0]!;
  const userId = relay.issuer.userId(user);
  const bodyOf = (n: number, kind: UserFrameKind, filler: string) =>
    encodeUserFrame(kind, JSON.stringify({ type: 'numbered', n, ...(filler === '' ? {} : { filler }) }));
  return {
    append: async (n: number, kind: 'f' | 'x' = 'f', filler = '') =>
      (await backplane.append(userId, bodyOf(n, kind, filler))).offset,
    hot: (n: number, kind: 'p' | 'o' = 'p', filler = '') => backplane.publish(userId, bodyOf(n, kind, filler)),
  };
}

export function handshake(path: string, headers: Record<string, string>): string {
  const all = {
    Host: 'relay',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** A frame of a client, masked with zeros, for payloads under 64 KiB. */
export function clientFrame(opcode: number, payload: Buffer | string): Buffer {
  const bytes = Buffer.from(payload as string);
  const length = bytes.length < 126 ? [0x80 | bytes.length] : [0x80 | 126, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...length, 0, 0, 0, 0]), bytes]);
}

/** The payloads of the complete, unmasked text frames in these bytes. */
export function textFrames(bytes: Buffer): string[] {
  const texts: string[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const opcode = bytes[at]! & 0x0f;
    const short = bytes[at + 1]! & 0x7f;
    const headerBytes = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (at + headerBytes > bytes.length) break;
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    const end = at + headerBytes + length;
    if (end > bytes.length) break;
    if (opcode === 1) texts.push(bytes.toString('utf8', at + headerBytes, end));
    at = end;
  }
  return texts;
}

/** A client that completes the handshake, then reads nothing until `resume` and never answers. */
export async function dialDeaf(relay: TestRelay, user: string, query = ''): Promise<Socket> {
  const { hostname, port } = new URL(relay.url);
  const line = connect({ host: hostname, port: Number(port) });
  line.on('error', () => undefined);
  line.write(handshake(`/ws/attention${query}`, { Authorization: `Bearer ${relay.token(user)}` }));
  let answer = '';
  while (!answer.includes('\r\n\r\n')) {
    const chunk = line.read() as Buffer | null;
    if (chunk) answer += chunk.toString('latin1');
    else await Promise.race([once(line, 'readable'), once(line, 'end')]);
  }
  if (!answer.startsWith('HTTP/1.1 101')) throw new Error(`refused: ${answer}`);
  return line;
}

/** The number of connections that this relay's api has closed with this code so far. */
export async function closedWith(relay: TestRelay, code: number): Promise<number> {
  const line = (await relay.apis[0]!.metrics.text())
    .split('\n')
    .find((text) => text.startsWith('relay_app_closes_total{') && text.includes(`code="${code}"`));
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ') + 1));
}
