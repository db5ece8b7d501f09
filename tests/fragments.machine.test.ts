/**
 * Promise: one WebSocket message in a huge number of fragments takes little memory and delays no other client, at both
 * doors (R11).
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { type RelayProcess, connectApp, connectDaemon, registerDevice, startRelayProcess } from '@relay/testing';

let relay: RelayProcess;
const lines: Socket[] = [];
beforeAll(async () => {
  relay = await startRelayProcess();
}, 60_000);
afterAll(() => relay.end('SIGKILL'));
afterEach(() => {
  for (const line of lines.splice(0)) line.destroy();
});

const residentMiB = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${relay.process.pid}/status`, 'utf8'))![1]) / 1024;

/** A fragment of a message, masked with zeros. */
const part = (opcode: number, payload: string, isLast = false) =>
  Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload)]);
const text = 1;
const continuation = 0;
const pong = part(0xa, 'x'.repeat(125), true);

/** Connects with a valid credential; the peer then writes raw bytes. Resolves after the upgrade. */
async function dial(door: 'daemon' | 'attention'): Promise<Line> {
  const headers: Record<string, string> = {};
  if (door === 'attention') headers.Authorization = `Bearer ${relay.token('mallory')}`;
  else {
    const { deviceId, refreshToken, agentType } = await registerDevice(relay, { user: 'mallory' });
    Object.assign(headers, {
      Authorization: `Bearer ${refreshToken}`,
      'X-Device-ID': deviceId,
      'X-Agent-Type': agentType,
      'X-Daemon-Version': '1.0.0',
    });
  }
  const line = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1', noDelay: true });
  lines.push(line);
  line.on('error', () => undefined);
  line.write(
    [
      `GET /ws/${door} HTTP/1.1`,
      'Host: relay.test',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      '\r\n',
    ].join('\r\n'),
  );
  const [head] = (await once(line, 'data')) as [Buffer];
  expect(head.toString('latin1')).toContain('101 Switching Protocols');
  const peer: Line = {
    line,
    code: undefined,
    write: (bytes) =>
      new Promise((resolve) => {
        if (line.destroyed) return resolve();
        if (line.write(bytes)) return void setImmediate(resolve);
        const go = () => {
          line.off('drain', go).off('close', go);
          resolve();
        };
        line.on('drain', go).on('close', go);
      }),
  };
  let heard = Buffer.alloc(0);
  line.on('data', (chunk: Buffer) => {
    heard = Buffer.concat([heard, chunk]).subarray(-200);
    const close = heard.indexOf(Buffer.from([0x88]));
    if (close >= 0 && heard.length >= close + 4) peer.code ??= heard.readUInt16BE(close + 2);
  });
  return peer;
}
interface Line {
  line: Socket;
  /** The code of the close frame. */
  code: number | undefined;
  write(bytes: Buffer): Promise<void>;
}

/** The relay still delivers a request and a frame of another user. */
async function servesOthers(): Promise<void> {
  const daemon = await connectDaemon(relay, { user: 'alice' });
  const app = await connectApp(relay, { user: 'alice' });
  const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'work' } });
  expect(created.status).toBe(201);
  await daemon.next('task_start', ({ task_id: id }) => id === created.body.taskId);
  await app.next('new_message');
  await Promise.all([daemon.close(), app.close()]);
}

describe.each(['daemon', 'attention'] as const)('R11: at the door /ws/%s', (door) => {
  it('R11: a message of a million fragments is refused with 1008 while the relay serves others', async () => {
    await servesOthers();
    const peer = await dial(door);
    const before = residentMiB();
    await peer.write(part(text, '{'));
    const many = Buffer.concat(Array.from({ length: 1_000 }, () => part(continuation, ' ')));
    for (let n = 0; n < 1_000 && !peer.line.destroyed; n += 1) await peer.write(many);
    expect(peer.code).toBe(1008);
    await servesOthers();
    expect(residentMiB() - before).toBeLessThan(100);
  }, 120_000);

  it('R11: single fragments, each followed by many pongs, hold little memory', async () => {
    await servesOthers();
    const peer = await dial(door);
    const before = residentMiB();
    await peer.write(part(text, '{'));
    // One byte of a fragment would keep the whole chunk of the socket in memory.
    const padding = Buffer.concat([part(continuation, ' '), ...Array.from({ length: 500 }, () => pong)]);
    for (let n = 0; n < 16_000 && !peer.line.destroyed; n += 1) await peer.write(padding);
    expect(peer.code).toBe(1008);
    await servesOthers();
    // 985 MiB without the bound; 245 if the relay kept all bytes after the close until the peer leaves; at most 40 with
    // it.
    expect(residentMiB() - before).toBeLessThan(150);
  }, 120_000);
});
