import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, startRelay } from '@relay/testing';

describe('a draining instance', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ apis: 2 });
  });
  afterAll(() => relay.stop());

  it('closes its apps with 1001, accepts no new ones and still serves REST; other instances take the apps', async () => {
    const [leaving, staying] = relay.apis;
    const apps = await Promise.all([1, 2, 3].map(() => connectApp(relay)));
    const other = await connectApp(relay, { api: 1 });
    expect([leaving!.api.size, staying!.api.size]).toEqual([3, 1]);
    await leaving!.api.drain(30);
    for (const app of apps) expect((await app.closed).code).toBe(1001);
    await expect(connectApp(relay)).rejects.toMatchObject({
      status: 503,
      body: { code: 'SERVICE_UNAVAILABLE' },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });
    expect((await relay.call('me')).status).toBe(200);
    const moved = await connectApp(relay, { api: 1 });
    await Promise.all([moved.close(), other.close()]);
  });
});
