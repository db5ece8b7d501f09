/** Promise: the large frames of one person that wait for their turn have a bound (rules, 4.8). */
import { describe, expect, it } from '@jest/globals';
import type { DaemonConnection } from '../src/connection/connection.ts';
import { createFairShare } from '../src/frames/fair-share.ts';
import { createFrameHandler } from '../src/frames/frame-handler.ts';
import type { FrameDispatcher } from '../src/frames/inbound.ts';
import { createLargeFrames } from '../src/frames/large-frames.ts';

describe('large frames', () => {
  const size = 16 * 1024 * 1024;
  const text = 'x'.repeat(size);
  const connectionOf = (ownerId: string) => {
    const closed: string[] = [];
    const handled: unknown[] = [];
    const connection = {
      ownerId,
      close: (why: string) => void closed.push(why),
      decode: () => ({ type: 'pong' }),
      acceptsFrames: true,
    } as unknown as DaemonConnection;
    return { connection, closed, handled, handle: (frame: unknown) => void handled.push(frame) };
  };

  it("S3: close a connection when four of the largest wait already, and only that person's", async () => {
    const share = createFairShare();
    const large = createLargeFrames(share);
    let release = () => {};
    const held = share.run('alice', { factor: 0, maxMs: 0 }, () => new Promise<void>((resolve) => (release = resolve)));
    const alice = connectionOf('alice');
    const waiting = Array.from({ length: 4 }, () => large.process(alice.connection, text, alice.handle));
    expect(alice.closed).toEqual([]);
    await large.process(alice.connection, text, alice.handle);
    expect(alice.closed).toEqual(['overloaded']);
    const bob = connectionOf('bob');
    await large.process(bob.connection, text, bob.handle);
    expect(bob.handled).toEqual([{ type: 'pong' }]);
    release();
    await held;
    await Promise.all(waiting);
    await large.process(alice.connection, text, alice.handle);
    expect(alice.handled).toEqual(Array(5).fill({ type: 'pong' }));
    expect(alice.closed).toHaveLength(1);
  });

  it('K3: an unchanged large report needs no decoding and waits for no turn', async () => {
    const share = createFairShare();
    const report = `{"type":"report_sessions","sessions":["${'x'.repeat(512 * 1024)}"]}`;
    const { connection } = connectionOf('alice');
    const decoded: string[] = [];
    Object.assign(connection, { decode: (given: string) => (decoded.push(given), undefined) });
    const inbound = { repeat: (_: unknown, given: string) => (given === report ? Promise.resolve() : undefined) };
    const handle = createFrameHandler({
      ...{ inbound: inbound as unknown as FrameDispatcher, share, tracer: undefined, isClosing: () => false },
      metrics: {} as never,
    });
    let release = () => {};
    const held = share.run('alice', { factor: 0, maxMs: 0 }, () => new Promise<void>((resolve) => (release = resolve)));
    await handle(connection, report);
    expect(decoded).toEqual([]);
    const changed = handle(connection, `${report} `);
    release();
    await Promise.all([held, changed]);
    expect(decoded).toEqual([`${report} `]);
  });

  it('are frames that take a millisecond or longer to decode', () => {
    const large = createLargeFrames(createFairShare());
    expect([large.is('x'.repeat(1024)), large.is(text)]).toEqual([false, true]);
  });
});
