import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, startRelay } from '@relay/testing';
import { closedWith, dialDeaf, sayer, textFrames } from './app-door.ts';
import { until } from '../until.ts';

const filler = 'x'.repeat(64 * 1024);

/**
 * Rules, 11.11: an app that does not read loses progress and output first, and is then closed; no other app notices.
 */
describe('a reader that is too slow', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  it('loses progress and output first, and gets everything else when it reads on', async () => {
    const say = sayer(relay, 'alice');
    const line = await dialDeaf(relay, 'alice', '?events=output');
    const witness = await connectApp(relay);
    // Far more than the operating system buffers for the two sockets.
    for (let n = 1; n <= 600; n += 1) await say.hot(n, n % 2 === 0 ? 'p' : 'o', filler);
    for (let n = 601; n <= 605; n += 1) await say.append(n);
    await witness.next('numbered', ({ n }) => n === 605);
    const chunks: Buffer[] = [];
    line.on('data', (chunk: Buffer) => chunks.push(chunk));
    await until(
      'the last frame is read',
      () => chunks.length > 0 && Buffer.concat(chunks.slice(-3)).includes('"n":605'),
    );
    const heard = textFrames(Buffer.concat(chunks)).map((text) => (JSON.parse(text) as { n: number }).n);
    const hot = heard.filter((n) => n <= 600);
    expect(hot.length).toBeLessThan(600);
    expect(hot).toEqual([...hot].sort((a, b) => a - b));
    expect(heard.filter((n) => n > 600)).toEqual([601, 602, 603, 604, 605]);
    line.destroy();
    await witness.close();
  });

  it("is closed with 1013, and the user's other apps get everything in order", async () => {
    const say = sayer(relay, 'bob');
    const [slow, healthy] = [await dialDeaf(relay, 'bob'), await connectApp(relay, { user: 'bob' })];
    const before = await closedWith(relay, 1013);
    let n = 0;
    await until('the slow one is closed', async () => {
      for (let more = 0; more < 8; more += 1) await say.append((n += 1), 'f', filler);
      await healthy.next('numbered', (frame) => frame.n === n);
      return (await closedWith(relay, 1013)) > before;
    });
    expect(healthy.inbox.all.map((frame) => frame.n)).toEqual(Array.from({ length: n }, (_, index) => index + 1));
    expect(await closedWith(relay, 1013)).toBe(before + 1);
    slow.destroy();
    await healthy.close();
  });

  it('does not include an app that gets a long burst and reads it', async () => {
    const say = sayer(relay, 'carol');
    const app = await connectApp(relay, { user: 'carol' });
    const before = await closedWith(relay, 1013);
    await Promise.all(Array.from({ length: 150 }, (_, n) => say.append(n, 'f', filler)));
    await app.next('numbered', ({ n }) => n === 149);
    expect(app.inbox.all).toHaveLength(150);
    expect(await closedWith(relay, 1013)).toBe(before);
    await app.close();
  });
});
