/** Messages that repeat: each time once, missed or skipped (rules, 26.17 to 26.27). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ScheduleRun } from '@relay/protocol';
import {
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  quickSweeps,
  startRelay,
} from '@relay/testing';
import { idleSession, messageIn, nextStart, readSession, readTask, until } from './conversation.ts';

/** Six hours from now: no other time of it is near. */
const daily = { cron: `0 ${(new Date().getUTCHours() + 6) % 24} * * *`, zone: 'UTC', waitSeconds: 7200 };
const minuteMs = 60_000;

describe('a schedule', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let number = 0;

  beforeAll(async () => {
    relay = await startRelay({ gateways: 2, config: quickSweeps });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay, { since: '' });
  });
  afterAll(() => relay.stop());

  const create = async (more: object = {}) => {
    const body = { deviceId: daemon.deviceId, message: `do it ${++number}`, ...daily, ...more };
    return relay.call('createSchedule', { body });
  };
  const created = async (more: object = {}) => {
    const { status, body } = await create(more);
    expect(status).toBe(201);
    return body;
  };
  const read = async (id: string) => (await relay.call('readSchedule', { params: { id } })).body;
  const runsOf = async (id: string): Promise<ScheduleRun[]> =>
    (await relay.call('listScheduleRuns', { params: { id } })).body.runs;
  /** Its next time came so long ago. */
  const comeDue = (id: string, agoMs = 0) =>
    relay.database.sql
      .execute`UPDATE schedules SET next_at = now() - ${agoMs}::double precision * interval '1 millisecond' WHERE id = ${id}`;
  const started = (instruction: string) => daemon.next('task_start', (frame) => frame.instruction === instruction);
  const starts = (instruction: string) =>
    daemon.inbox.count('task_start', (frame) => frame.instruction === instruction);
  const settled = (id: string, state: ScheduleRun['state']) =>
    until(async () => (await runsOf(id)).find((run) => run.state === state));
  let native = 0;
  const finish = (taskId: string) => {
    daemon.event(taskId, 'SESSION_STARTED', { session_id: `repeated-${++native}` });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
  };

  it('begins a session at its time, once, however many gateways look', async () => {
    const schedule = await created({ title: 'Nightly' });
    expect(schedule).toMatchObject({ paused: false, nextAt: schedule.next[0], cron: daily.cron });
    expect(schedule.next).toHaveLength(3);
    await comeDue(schedule.id);
    const frame = await started(schedule.message);
    expect(frame).not.toHaveProperty('restricted');
    await app.next('new_message', (one) => messageIn(one).content === schedule.message);
    expect(await app.next('later_changed')).toMatchObject({ count: 1 });
    finish(frame.task_id as string);
    const run = await settled(schedule.id, 'done');
    expect(run).toMatchObject({ taskId: frame.task_id, lastMessage: 'done' });
    expect(await readSession(relay, run.sessionId!)).toMatchObject({
      title: 'Nightly',
      scheduleId: schedule.id,
      watched: true,
    });
    await nextStart(relay, daemon);
    expect(starts(schedule.message)).toBe(1);
    expect(await read(schedule.id)).toMatchObject({ nextAt: schedule.nextAt, lastRun: { state: 'done' } });
    expect((await relay.call('listLater', {})).body.schedules).toContainEqual(
      expect.objectContaining({ id: schedule.id }),
    );
    const { body: audit } = await relay.call('listAudit', {});
    expect(audit.entries).toContainEqual(
      expect.objectContaining({ action: 'runSchedule', program: 'schedule', target: schedule.id }),
    );
  });

  it('3.9: reaches a plain daemon as an ordinary task, whose limit is an ordinary error', async () => {
    const { body: ordinary } = await relay.call('createSession', {
      body: { deviceId: daemon.deviceId, message: 'ordinary' },
    });
    const frame = await started('ordinary');
    finish(ordinary.taskId);
    const schedule = await created();
    await comeDue(schedule.id);
    const { task_id: taskId, instruction, ...rest } = await started(schedule.message);
    expect({ taskId, instruction, ...rest }).toEqual({
      taskId: expect.any(String) as unknown,
      instruction: schedule.message,
      type: frame.type,
    });
    expect(Object.keys(rest)).toEqual(Object.keys(frame).filter((key) => key !== 'task_id' && key !== 'instruction'));
    daemon.event(taskId as string, 'SESSION_STARTED', { session_id: `repeated-${++native}` });
    daemon.event(taskId as string, 'ERROR', { error: 'You have reached your usage limit.' });
    const { error } = await until(async () => {
      const task = await readTask(relay, taskId as string);
      return task.state === 'failed' ? task : undefined;
    });
    expect(error).toEqual({ code: 'AGENT_ERROR', error: 'You have reached your usage limit.' });
  });

  it('continues one session, and leaves a time out while that asks', async () => {
    const id = await idleSession(relay, daemon, app, `same-${++number}`);
    const schedule = await created({ sessionId: id });
    expect(schedule).toMatchObject({ sessionId: id });
    await comeDue(schedule.id);
    const { task_id: taskId } = await daemon.next('task_resume', (frame) => frame.message === schedule.message);
    daemon.event(taskId as string, 'WAIT_FOR_USER', { prompt: 'Which?' });
    expect(await settled(schedule.id, 'asked')).toMatchObject({ sessionId: id });
    // It asks: the next time is left out.
    await comeDue(schedule.id);
    expect(await settled(schedule.id, 'skipped')).toMatchObject({ reason: 'overlap' });
  });

  it('runs a time of the last hour late, and misses the older ones', async () => {
    // Every half an hour, and the next time is a quarter of an hour away, after the test.
    const minute = (new Date().getUTCMinutes() + 15) % 30;
    const schedule = await created({ cron: `${minute},${minute + 30} * * * *` });
    await comeDue(schedule.id, 95 * minuteMs);
    const frame = await started(schedule.message);
    const runs = await runsOf(schedule.id);
    expect(runs.map(({ state }) => state)).toEqual(['started', ...runs.slice(1).map(() => 'missed')]);
    expect(runs.length).toBeGreaterThanOrEqual(3);
    expect(runs[1]).toMatchObject({ reason: 'down' });
    finish(frame.task_id as string);
    await settled(schedule.id, 'done');
    const { body } = await relay.call('listInbox', {});
    const items = body.items.filter(({ scheduleId }) => scheduleId === schedule.id);
    expect(items).toEqual([
      expect.objectContaining({ kind: 'missed', reason: 'down', title: schedule.message, deviceId: daemon.deviceId }),
    ]);
    expect(body.counts).toMatchObject({ missed: 1 });
    await relay.call('ackItem', { params: { id: items[0]!.id } });
    expect((await relay.call('listInbox', {})).body.counts).not.toHaveProperty('missed');

    const old = await created();
    await comeDue(old.id, 61 * minuteMs);
    expect(await settled(old.id, 'missed')).toMatchObject({ reason: 'down' });
    await nextStart(relay, daemon);
    expect(starts(old.message)).toBe(0);
  });

  it('waits for a device as long as chosen, and is missed then, or runs once when it is back', async () => {
    const away = await connectDaemon(relay);
    const { deviceId } = away;
    await away.close();
    await relay.database.sql.execute`UPDATE devices SET status = 'offline' WHERE id = ${deviceId}`;
    const waits = await created({ deviceId });
    const skips = await created({ deviceId, waitSeconds: 0 });
    await comeDue(waits.id);
    await comeDue(skips.id);
    expect(await settled(skips.id, 'missed')).toMatchObject({ reason: 'offline' });
    const { taskId } = await settled(waits.id, 'started');
    expect(await readTask(relay, taskId!)).toMatchObject({ state: 'queued' });
    await relay.database.sql.execute`UPDATE tasks SET expires_at = now() WHERE id = ${taskId}`;
    expect(await settled(waits.id, 'missed')).toMatchObject({ reason: 'offline', taskId });
    const { body } = await relay.call('listInbox', {});
    expect(body.items.filter((item) => item.taskId === taskId)).toEqual([]);
    expect(body.items.filter(({ scheduleId }) => scheduleId === waits.id)).toHaveLength(1);

    const returns = await created({ deviceId });
    await comeDue(returns.id);
    await settled(returns.id, 'started');
    const back = await connectDaemon(relay, { registration: away.registration });
    const frame = await back.next('task_start', ({ instruction }) => instruction === returns.message);
    back.event(frame.task_id as string, 'SESSION_STARTED', { session_id: `repeated-${++native}` });
    back.event(frame.task_id as string, 'TASK_COMPLETE', { result: 'done' });
    expect(await settled(returns.id, 'done')).toMatchObject({ taskId: frame.task_id });
    expect(back.inbox.count('task_start', ({ instruction }) => instruction === returns.message)).toBe(1);
  });

  it('pauses after five runs that did not work, until its person resumes it', async () => {
    const schedule = await created();
    for (let time = 0; time < 5; time += 1) {
      await comeDue(schedule.id);
      const { task_id: taskId } = await started(schedule.message);
      daemon.event(taskId as string, 'ERROR', { error: 'no' });
      await until(
        async () => (await runsOf(schedule.id)).filter(({ state }) => state === 'failed').length === time + 1,
      );
    }
    expect(await read(schedule.id)).toMatchObject({ paused: true, pausedFor: 'failing', next: [] });
    const params = { id: schedule.id };
    const { body } = await relay.call('changeSchedule', { params, body: { paused: false } });
    expect(body).toMatchObject({ paused: false, nextAt: schedule.nextAt });
    expect(body).not.toHaveProperty('pausedFor');
  });

  it('is over after its number of runs, and after its last day', async () => {
    const once = await created({ times: 1 });
    await comeDue(once.id);
    finish((await started(once.message)).task_id as string);
    await settled(once.id, 'done');
    expect(await read(once.id)).toMatchObject({ next: [], paused: false });
    const until = new Date(Date.parse(once.nextAt!) + 86_400_000 + 1000).toISOString();
    expect((await created({ until })).next).toHaveLength(2);
    const from = new Date(Date.now() + 10 * 86_400_000).toISOString();
    expect((await created({ from })).nextAt! > from).toBe(true);
  });

  it('runs when its person asks for it, beside its times', async () => {
    const schedule = await created();
    const params = { id: schedule.id };
    const run = await relay.call('runSchedule', { params });
    expect(run).toMatchObject({ status: 202, body: { state: 'started', manual: true } });
    const { task_id: taskId } = await started(schedule.message);
    expect((await relay.call('runSchedule', { params })).body).toMatchObject({ state: 'skipped', reason: 'overlap' });
    finish(taskId as string);
    await settled(schedule.id, 'done');
    expect(await read(schedule.id)).toMatchObject({ nextAt: schedule.nextAt });
  });

  it('belongs to its person, and goes with its session and its device', async () => {
    const session = await idleSession(relay, daemon, app, `gone-${++number}`);
    const schedule = await created({ sessionId: session, message: 'a secret that repeats' });
    const params = { id: schedule.id };
    for (const name of ['readSchedule', 'deleteSchedule', 'runSchedule', 'listScheduleRuns'] as const)
      expect(await relay.call(name, { params, user: 'mallory' })).toMatchObject({
        status: 404,
        body: { code: 'SCHEDULE_NOT_FOUND' },
      });
    expect((await relay.call('exportMe', {})).body).toMatchObject({
      schedules: expect.arrayContaining([expect.objectContaining({ message: 'a secret that repeats' })]),
    });
    await relay.call('deleteSession', { params: { id: session } });
    expect(await relay.call('readSchedule', { params })).toMatchObject({ status: 404 });
    const other = await connectDaemon(relay);
    const ofOther = await created({ deviceId: other.deviceId });
    await relay.call('deleteDevice', { params: { id: other.deviceId } });
    expect(await relay.call('readSchedule', { params: { id: ofOther.id } })).toMatchObject({ status: 404 });
    const last = await created();
    expect(await relay.call('deleteSchedule', { params: { id: last.id } })).toMatchObject({ status: 204 });
    const rows = await relay.database.sql.query`SELECT 1 FROM schedules WHERE message LIKE '%secret%'`;
    expect(rows).toEqual([]);
  });

  it('pauses with its session, as soon as that is archived', async () => {
    const session = await idleSession(relay, daemon, app, `archived-${++number}`);
    const schedule = await created({ sessionId: session });
    await relay.call('updateSession', { params: { id: session }, body: { archived: true } });
    expect(await read(schedule.id)).toMatchObject({ paused: true, pausedFor: 'archived', next: [] });
  });

  it('shows the next times of a rule before it exists, as they come true', async () => {
    const preview = (cron: string) => relay.call('previewSchedule', { query: { cron, zone: 'Africa/Casablanca' } });
    const { body } = await preview('30 7 * * 1-5');
    expect(body.next).toHaveLength(3);
    expect(await created({ cron: '30 7 * * 1-5', zone: 'Africa/Casablanca' })).toMatchObject({ next: body.next });
    expect(await preview('* * * * *')).toMatchObject({ status: 400, body: { code: 'SCHEDULE_TOO_OFTEN' } });
    expect(await preview('@daily')).toMatchObject({ status: 400, body: { code: 'INVALID_SCHEDULE' } });
  });

  it('refuses rules, places and settings that do not exist, and the 51st', async () => {
    for (const [more, status, code] of [
      [{ cron: '* * * * *' }, 400, 'SCHEDULE_TOO_OFTEN'],
      [{ cron: '0 9 30 2 *' }, 400, 'INVALID_SCHEDULE'],
      [{ zone: 'Mars/Olympus' }, 400, 'INVALID_SCHEDULE'],
      [{ cron: '@daily' }, 400, 'INVALID_SCHEDULE'],
      [{ waitSeconds: 90_000 }, 400, 'INVALID_REQUEST'],
      [{ deviceId: 'nobody' }, 404, 'DEVICE_NOT_FOUND'],
      [{ sessionId: `${daemon.deviceId}:claude:none` }, 404, 'SESSION_NOT_FOUND'],
      [{ agentType: 'stranger' }, 409, 'AGENT_NOT_OFFERED'],
      [{ settings: [{ id: 'mode', value: 'plan' }] }, 409, 'NOT_SUPPORTED_BY_DEVICE'],
    ] as const)
      expect(await create(more)).toMatchObject({ status, body: { code } });
    const { body } = await relay.call('listLater', {});
    for (let n = body.schedules?.length ?? 0; n < 50; n += 1) await created();
    expect(await create()).toMatchObject({ status: 409, body: { code: 'TOO_MANY_SCHEDULES' } });
  });
});

it('a run is unattended for a daemon with controls', async () => {
  const relay = await startRelay({ config: quickSweeps });
  try {
    const daemon = await connectDaemon(relay, { capabilities: ['controls'] });
    const body = { deviceId: daemon.deviceId, message: 'unattended', ...daily };
    const { id } = (await relay.call('createSchedule', { body })).body;
    await relay.database.sql.execute`UPDATE schedules SET next_at = now() WHERE id = ${id}`;
    expect(await daemon.next('task_start')).toMatchObject({ instruction: 'unattended', restricted: 'unattended' });
  } finally {
    await relay.stop();
  }
});
