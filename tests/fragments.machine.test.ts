/** Promise: one WebSocket message in very many parts takes little memory and no turn from others, at both doors (R11). */
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

/** A part of a message: masked with zeros. */
const part = (opcode: number, payload: string, isLast = false) =>
  Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload)]);
const text = 1;
const continuation = 0;
const pong = part(0xa, 'x'.repeat(125), true);

/** A valid credential, and a peer that writes bytes of its own. Resolves when it is open. */
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
  /** Of the close frame. */
  code: number | undefined;
  write(bytes: Buffer): Promise<void>;
}

/** Another user's request and frame arrive. */
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
  it('R11: a message of a million parts is refused with 1008 while others are served', async () => {
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

  it('R11: parts that come one by one, each with much that does not count, hold little memory', async () => {
    await servesOthers();
    const peer = await dial(door);
    const before = residentMiB();
    await peer.write(part(text, '{'));
    // A chunk that is read at once is kept whole for one byte of it.
    const padding = Buffer.concat([part(continuation, ' '), ...Array.from({ length: 500 }, () => pong)]);
    for (let n = 0; n < 16_000 && !peer.line.destroyed; n += 1) await peer.write(padding);
    expect(peer.code).toBe(1008);
    await servesOthers();
    // 985 without the bound, 245 when what comes after the close is kept until the peer leaves; 40 is the most that was seen.
    expect(residentMiB() - before).toBeLessThan(150);
  }, 120_000);
});
