import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, startRelay } from '@relay/testing';
import { sayer } from './app-door.ts';
import { expectFrame } from './frames.ts';

const historyBytes = 64 * 1024;

describe('resync', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ config: { resumeHistoryBytes: historyBytes } });
  });
  afterAll(() => relay.stop());

  it.each(['garbage', 'x.1', '0', '../..', '%00', 'x'.repeat(5000)])(
    'comes first, and once, to a client that sends since=%s; live frames follow',
    async (since) => {
      const user = `of ${since.slice(0, 20)}`;
      const say = sayer(relay, user);
      await say.append(1);
      const app = await connectApp(relay, { user, since });
      expectFrame('resync', await app.next('resync'));
      await say.append(2);
      expect(await app.next('numbered')).toMatchObject({ n: 2, offset: expect.any(String) });
      expect(app.inbox.all.map(({ type }) => type)).toEqual(['resync', 'numbered']);
      await app.close();
    },
  );

  it('K11: comes when the history no longer reaches back, which depends on bytes and not on the number of frames', async () => {
    const say = sayer(relay, 'long away');
    const since = await say.append(0);
    for (let n = 1; n <= 200; n += 1) await say.append(n);
    const inTime = await connectApp(relay, { user: 'long away', since });
    expect(await inTime.next('numbered')).toMatchObject({ n: 1 });
    await inTime.next('numbered', ({ n }) => n === 200);
    await say.append(201, 'f', 'x'.repeat(historyBytes / 2));
    await say.append(202, 'f', 'x'.repeat(historyBytes / 2 - 1000));
    const tooLate = await connectApp(relay, { user: 'long away', since });
    await tooLate.next('resync');
    await say.append(203);
    // A frame published just before it connected can arrive too.
    await tooLate.next('numbered', ({ n }) => n === 203);
    expect(inTime.inbox.count('resync')).toBe(0);
    await Promise.all([inTime.close(), tooLate.close()]);
  });

  it('does not come to a new app, nor to an app that missed nothing', async () => {
    const say = sayer(relay, 'punctual');
    const since = await say.append(1);
    const apps = [
      await connectApp(relay, { user: 'punctual' }),
      await connectApp(relay, { user: 'punctual', since: '' }),
      await connectApp(relay, { user: 'punctual', since }),
    ];
    await say.append(2);
    for (const app of apps) {
      expect(await app.next('numbered')).toMatchObject({ n: 2 });
      expect(app.inbox.all).toHaveLength(1);
      await app.close();
    }
  });

  it("comes to a client that sends another user's offset", async () => {
    const since = await sayer(relay, 'one').append(1);
    await sayer(relay, 'other').append(1);
    const app = await connectApp(relay, { user: 'other', since });
    await app.next('resync');
    await app.close();
  });
});
