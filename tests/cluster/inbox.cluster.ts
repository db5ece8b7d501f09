import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Inbox, InboxCounts } from '@relay/protocol';
import { type Cluster, type TestApp, type TestDaemon, connectApp, connectDaemon, startCluster } from '@relay/testing';
import { lasting, until } from './until.ts';

const apis = 3;
/** The number of failures between two kills. */
const failures = 12;

/** Promise: rules, 14.17 and 14.18. */
describe('the inbox on three apis while each is killed', () => {
  let cluster: Cluster;
  let daemon: TestDaemon;
  const apps: TestApp[] = [];
  beforeAll(async () => {
    cluster = await startCluster({ apis, gateways: 1 });
    daemon = await connectDaemon(cluster);
  }, 180_000);
  afterAll(() => cluster.stop());

  it('has equal counts for equal versions in every response and every frame, and all apis agree finally', async () => {
    const seen = new Map<number, string>();
    const differ: string[] = [];
    let isOver = false;
    const note = ({ version, counts }: { version: number; counts: InboxCounts }) => {
      const text = JSON.stringify(Object.entries(counts).sort());
      if ((seen.get(version) ?? text) !== text) differ.push(`${version}: ${seen.get(version)} and ${text}`);
      seen.set(version, text);
    };
    const listen = async (api: number) => {
      const app = await connectApp(cluster, { api, since: '' });
      apps[api] = app;
      app.socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString('utf8')) as { type: string; version: number; counts: InboxCounts };
        if (frame.type === 'inbox_update') note(frame);
      });
    };
    /** Returns undefined while the api is killed. */
    const read = async (api: number): Promise<Inbox | undefined> => {
      const answer = await cluster.call('listInbox', { api }).catch(() => undefined);
      if (answer?.status !== 200) return undefined;
      note(answer.body);
      return answer.body;
    };
    const readers = Array.from({ length: apis }, async (_, api) => {
      while (!isOver) {
        await read(api);
        await lasting(20);
      }
    });
    const fail = async (api: number, round: number) => {
      for (let n = 0; n < failures; n += 1) {
        const { body } = await cluster.call('createSession', {
          api,
          body: { deviceId: daemon.deviceId, message: 'go' },
        });
        await daemon.next('task_start', (frame) => frame.task_id === body.taskId);
        daemon.event(body.taskId, 'ERROR', { session_id: `f-${round}-${n}`, error: 'no' });
      }
    };
    const have = (counts: Partial<InboxCounts>, of: readonly number[]) =>
      until(`apis ${of.join()} have ${JSON.stringify(counts)}`, async () => {
        const inboxes = await Promise.all(of.map(read));
        expect(inboxes.map((inbox) => inbox?.counts)).toEqual(of.map(() => expect.objectContaining(counts)));
        return new Set(inboxes.map((inbox) => inbox!.version)).size === 1;
      });

    for (let api = 0; api < apis; api += 1) await listen(api);
    let open = 0;
    for (const [api, instance] of cluster.apis.entries()) {
      const others = [0, 1, 2].filter((other) => other !== api);
      // The killed api does not publish its last commits.
      const failing = fail(others[0]!, api);
      await until('some have failed', async () => ((await read(others[1]!))?.counts.failure ?? 0) > open + 3);
      const { items } = (await read(api))!;
      const acks = items
        .slice(0, 3)
        .map(({ id }) => cluster.call('ackItem', { api, params: { id } }).catch(() => null));
      await instance.kill();
      await Promise.all(acks);
      await failing;
      const left = (await read(others[0]!))!;
      const { body } = await cluster.call('ackInbox', {
        ...{ api: others[1]!, body: { kind: 'failure' as const, upToVersion: left.version - 2 } },
      });
      note(body);
      await instance.start();
      await listen(api);
      await until('it answers again', async () => (await read(api)) !== undefined);
      open = (await read(api))!.counts.failure;
    }
    await until('everything is acknowledged', async () => {
      const { version } = (await read(0))!;
      const { body } = await cluster.call('ackInbox', { api: 1, body: { upToVersion: version } });
      note(body);
      return daemon.inbox.count('task_start') === apis * failures && body.counts.total === 0;
    });
    await have({ failure: 0, total: 0 }, [0, 1, 2]);
    isOver = true;
    await Promise.all(readers);
    for (const app of apps) await app.close();
    expect(differ).toEqual([]);
    expect(seen.size).toBeGreaterThan(failures);
  }, 300_000);
});
