import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, startRelay } from '@relay/testing';
import { until } from '../until.ts';
import { sayer } from './app-door.ts';

describe('a revocation', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ apis: 2 });
  });
  afterAll(() => relay.stop());

  const control = (body: Record<string, unknown>) =>
    relay.gateways[0]!.backplane.publishControl(JSON.stringify({ v: 1, ...body }));
  const stillHears = async (app: Awaited<ReturnType<typeof connectApp>>, user: string) => {
    await sayer(relay, user).append(1);
    await app.next('numbered');
  };

  it("of a user closes all of that user's sockets with 4401, on every instance, and no others", async () => {
    const mine = await Promise.all([0, 1, 0].map((api) => connectApp(relay, { user: 'alice', api })));
    const other = await connectApp(relay, { user: 'bob' });
    await control({ kind: 'user_revoked', subject: relay.issuer.userId('alice') });
    for (const app of mine) expect((await app.closed).code).toBe(4401);
    await stillHears(other, 'bob');
    await other.close();
  });

  it("of a sign-in closes that sign-in's sockets only", async () => {
    const [laptop, phone, none] = [
      await connectApp(relay, { token: relay.token('carol', { login: 'laptop' }) }),
      await connectApp(relay, { token: relay.token('carol', { login: 'phone' }), api: 1 }),
      await connectApp(relay, { user: 'carol' }),
    ];
    await control({ kind: 'user_revoked', login: 'laptop' });
    expect((await laptop.closed).code).toBe(4401);
    await sayer(relay, 'carol').append(1);
    await Promise.all([phone, none].map((app) => app.next('numbered')));
    await Promise.all([phone, none].map((app) => app.close()));
  });

  it('lets the user in again with a later sign-in', async () => {
    const before = relay.token('dave');
    const witness = await connectApp(relay, { token: before });
    await control({ kind: 'user_revoked', subject: relay.issuer.userId('dave') });
    await witness.closed;
    await expect(connectApp(relay, { token: before })).rejects.toMatchObject({
      status: 401,
      body: { code: 'TOKEN_REVOKED' },
    });
    // Tokens carry the second of issue: a token of the same second could be older than the revocation.
    let app: Awaited<ReturnType<typeof connectApp>> | undefined;
    await until('the next second', async () => {
      app = await connectApp(relay, { user: 'dave' }).catch(() => undefined);
      return app !== undefined;
    });
    await stillHears(app!, 'dave');
    await app!.close();
  });

  it('reaches a socket that is still opening', async () => {
    const { backplane } = relay.apis[0]!;
    const subscribe = backplane.subscribe.bind(backplane);
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const reached = new Promise<void>((resolve) => {
      backplane.subscribe = async (user, listener) => {
        resolve();
        await gate;
        return subscribe(user, listener);
      };
    });
    const opening = connectApp(relay, { user: 'erin', since: '' });
    await reached;
    backplane.subscribe = subscribe;
    const witness = await connectApp(relay, { user: 'erin' });
    await control({ kind: 'user_revoked', subject: relay.issuer.userId('erin') });
    await witness.closed;
    open();
    expect((await (await opening).closed).code).toBe(4401);
  });

  it.each([
    ['without a user', { kind: 'user_revoked' }],
    ['of a stranger', { kind: 'user_revoked', subject: 'https://elsewhere|frank' }],
    ['of a user whose name starts alike', { kind: 'user_revoked', subject: 'frank' }],
    ['of a device', { kind: 'device_closed', deviceId: 'x', why: 'revoked' }],
    ['of a kind that only a newer release knows', { kind: 'everything_revoked', subject: 'x' }],
    ['without a version', { v: undefined, kind: 'user_revoked', login: 'x' }],
  ])('%s closes nothing', async (_what, body) => {
    const app = await connectApp(relay, { user: 'frank' });
    await control(body);
    await stillHears(app, 'frank');
    await app.close();
  });
});
