/** A relay that does not read: the daemon drops frames that a later one replaces, and queues the others (ADR 35). */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../src/clock.ts';
import { connectionTimings, createConnection } from '../src/connection.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

async function connectedPair() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[WebSocket]>;
  let onOpen: () => void = () => undefined;
  const open = new Promise<void>((resolve) => (onOpen = resolve));
  const connection = createConnection({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers: {},
    clock: systemClock,
    random: () => 0,
    timings: connectionTimings,
    onOpen,
    onText: () => undefined,
    onState: () => undefined,
  });
  home.later(async () => {
    await connection.close();
    await new Promise((resolve) => server.close(resolve));
  });
  connection.start();
  const [peer] = await accepted;
  await open;
  return { connection, peer };
}

describe('a relay that does not read', () => {
  it('gets no further droppable frame, but every other one, and droppable ones again once it reads', async () => {
    const { connection, peer } = await connectedPair();
    const received: string[] = [];
    peer.on('message', (data: Buffer) => received.push(data.toString().slice(0, 20)));
    peer.pause();
    const kept: string[] = [];
    const long = 'x'.repeat(64 * 1024);
    // The buffers of the systems hold some megabytes; after that, frames stay with the daemon.
    for (let n = 0; connection.send('hot', true); n += 1) {
      kept.push(`frame ${n} `);
      expect(connection.send(`frame ${n} ${long}`)).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connection.send('hot again', true)).toBe(false);
    expect(connection.send('the end')).toBe(true);
    peer.resume();
    while (received.at(-1) !== 'the end') await once(peer, 'message');
    expect(received.filter((text) => text.startsWith('frame')).map((text) => text.replace(/x+$/, ''))).toEqual(kept);
    expect(received).not.toContain('hot again');
    while (!connection.send('hot, later', true)) await new Promise((resolve) => setImmediate(resolve));
    while (received.at(-1) !== 'hot, later') await once(peer, 'message');
  });
});
