/**
 * The inbox over REST and as frames (rules, 14.16 to 14.19): on three apis that change one inbox, equal versions have
 * equal counts.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Inbox, InboxCounts, InboxItem } from '@relay/protocol';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';

const apis = 3;

describe('the inbox', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let apps: TestApp[];

  beforeAll(async () => {
    relay = await startRelay({ apis, gateways: 2 });
    daemon = await connectDaemon(relay, { capabilities: ['prompts'] });
    apps = await Promise.all(Array.from({ length: apis }, (_, api) => connectApp(relay, { api, since: '' })));
  });
  afterAll(() => relay.stop());

  const start = async () => {
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'go' } });
    const { task_id: taskId } = await daemon.next('task_start');
    return { sessionId: body.id, taskId: taskId as string };
  };
  const ask = (taskId: string, uuid: string) =>
    daemon.event(taskId, 'WAIT_FOR_USER', {
      session_id: `s-${uuid}`,
      prompt: 'May I?',
      options: [{ label: 'Yes' }, { label: 'No' }],
      question: {
        uuid,
        kind: 'permission',
        title: 'May I?',
        subject: { type: 'command', command: 'ls' },
        options: [
          { id: 'yes', label: 'Yes', kind: 'allow_once' },
          { id: 'no', label: 'No', kind: 'reject_once' },
        ],
      },
    });
  type Update = { version: number; counts: InboxCounts; changed: InboxItem[]; removed: string[] };
  const update = (app: TestApp, fits: (frame: Update) => boolean) =>
    app.next('inbox_update', (frame) => fits(frame as unknown as Update)) as unknown as Promise<Update>;
  const inbox = async (query: object = {}) => (await relay.call('listInbox', { query })).body as Inbox;

  it('publishes waiting items to every api, with the fields to answer them, and their answers', async () => {
    const { taskId } = await start();
    ask(taskId, 'q1');
    const frames = await Promise.all(apps.map((app) => update(app, ({ counts }) => counts.question === 1)));
    for (const frame of frames) expect(frame).toEqual({ ...frames[0], offset: expect.any(String) });
    const [item] = frames[0]!.changed;
    expect(item).toMatchObject({ kind: 'question', prompt: { id: 'q1', options: [{ id: 'yes' }, { id: 'no' }] } });
    const page = await inbox();
    expect(page).toMatchObject({ version: frames[0]!.version, counts: frames[0]!.counts, items: [item] });
    const answers = await Promise.all(
      Array.from({ length: apis }, (_, api) =>
        relay.call('answerPrompt', {
          api,
          params: { id: item!.sessionId!, uuid: 'q1' },
          body: { option: api === 0 ? 'yes' : 'no', ...(item!.prompt!.digest && { digest: item!.prompt!.digest }) },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    await daemon.next('task_resume');
    const ends = await Promise.all(apps.map((app) => update(app, ({ counts }) => counts.question === 0)));
    for (const end of ends) expect(end.removed).toEqual([item!.id]);
  });

  it("refuses to acknowledge a question, another user's item or an unknown one, and a snooze that is past or too long", async () => {
    const { taskId } = await start();
    ask(taskId, 'q2');
    await update(apps[0]!, ({ counts }) => counts.question === 1);
    const [item] = (await inbox({ kind: 'question' })).items;
    const id = item!.id;
    const refused = async (name: 'ackItem' | 'unsnoozeItem', of: string, user = 'alice') =>
      (await relay.call(name, { params: { id: of }, user })).body as unknown;
    expect(await refused('ackItem', id)).toMatchObject({ code: 'ITEM_NEEDS_ANSWER', status: 409 });
    expect(await refused('ackItem', id, 'bob')).toMatchObject({ code: 'ITEM_NOT_FOUND', status: 404 });
    expect(await refused('unsnoozeItem', 'none')).toMatchObject({ code: 'ITEM_NOT_FOUND', status: 404 });
    for (const ms of [-1000, 31 * 86_400_000]) {
      const until = new Date(Date.now() + ms).toISOString();
      const { body } = await relay.call('snoozeItem', { params: { id }, body: { until } });
      expect(body).toMatchObject({ code: 'INVALID_REQUEST' });
    }
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const { body: hidden } = await relay.call('snoozeItem', { params: { id }, body: { until } });
    expect(hidden).toMatchObject({ counts: { question: 0, badge: 0, snoozed: 1 } });
    expect(await inbox({ snoozed: 'true' })).toMatchObject({ items: [{ id, state: 'snoozed', snoozedUntil: until }] });
    const { body: shown } = await relay.call('unsnoozeItem', { params: { id } });
    expect(shown).toMatchObject({ counts: { question: 1, badge: 1, snoozed: 0 } });
    await relay.call('cancelSession', { params: { id: item!.sessionId! }, body: {} });
    await update(apps[0]!, ({ counts }) => counts.question === 0);
  });

  it('has equal counts at equal versions on three apis under concurrent changes, and pages through all items', async () => {
    const many = 12;
    const seen = new Map<number, string>();
    const note = ({ version, counts }: { version: number; counts: InboxCounts }) => {
      const text = JSON.stringify(Object.entries(counts).sort());
      expect(seen.get(version) ?? text).toBe(text);
      seen.set(version, text);
    };
    const tasks = await Promise.all(
      Array.from({ length: many }, async () => {
        const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'go' } });
        return body.taskId;
      }),
    );
    for (let n = 0; n < many; n += 1) await daemon.next('task_start');
    tasks.forEach((taskId, n) => daemon.event(taskId, 'ERROR', { session_id: `f-${n}`, error: 'no' }));
    const reads = Array.from({ length: 30 }, async (_, n) =>
      note((await relay.call('listInbox', { api: n % apis })).body as Inbox),
    );
    const lasts = await Promise.all(apps.map((app) => update(app, ({ counts }) => counts.failure === many)));
    await Promise.all(reads);
    for (const last of lasts) note(last);
    const acks: Promise<unknown>[] = [];
    const ids: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await inbox({ limit: 5, ...(cursor === undefined ? {} : { cursor }) });
      note(page);
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    expect(new Set(ids).size).toBe(many);
    ids
      .slice(0, 6)
      .forEach((id, n) =>
        acks.push(relay.call('ackItem', { api: n % apis, params: { id } }).then(({ body }) => note(body as never))),
      );
    await Promise.all(acks);
    const { version } = await inbox();
    const { body } = await relay.call('ackInbox', { body: { kind: 'failure', upToVersion: version } });
    note(body);
    expect(body).toMatchObject({ counts: { failure: 0, total: 0 } });
    const ends = await Promise.all(apps.map((app) => update(app, ({ counts }) => counts.total === 0)));
    for (const end of ends) note(end);
    expect(seen.size).toBeGreaterThan(3);
  });

  it('is published by another instance if the instance that changed it died first', async () => {
    const { version } = await inbox();
    const { ownerId } = await relay.database.models.device.findUniqueOrThrow({ where: { id: daemon.deviceId } });
    // A commit of a process that is gone: it reached no listener here.
    await relay.database.sql.execute`SELECT relay_inbox_open(${ownerId}, 'failure', '', 'gone', 'AGENT_ERROR', NULL)`;
    const frames = await Promise.all(apps.map((app) => update(app, (frame) => frame.version === version + 1)));
    for (const frame of frames) expect(frame).toMatchObject({ counts: { failure: 1 } });
    const { body } = await relay.call('ackInbox', { body: { upToVersion: version + 1 } });
    expect(body).toMatchObject({ counts: { total: 0 } });
  });
});
