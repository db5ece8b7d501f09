import { describe, expect, it } from '@jest/globals';
import { lossesOf } from './cluster/failover-verdict.ts';
import { judgeField } from './cluster/field-verdict.ts';
import { type Event, Journal, wordsIn } from './cluster/journal.ts';
import type { DeviceRow, TaskRow } from './cluster/truth.ts';
import { judgeJournal, judgeTruth } from './cluster/verdict.ts';

const user = 'user-1';
const journalOf = (...events: Event[]) => {
  const journal = new Journal();
  for (const event of events) journal.note(event);
  return journal;
};
const listening = (since = ''): Event => ({ what: 'listening', user, app: 1, since });
const connected = (connection: number): Event => ({
  ...{ what: 'connected', user, device: 'd', connection, gateway: 'g' },
});
const disconnected = (connection: number): Event => ({ what: 'disconnected', user, connection, code: 1006 });
const heard = (connection: number, number: number): Event => ({
  ...{ what: 'heard', user, app: 1, frame: 'new_message', offset: 'o', strangers: [] },
  line: { user, connection, number },
});
const resync: Event = { what: 'resync', user, app: 1 };
const accepted = (task: string): Event => ({
  ...{ what: 'accepted', user, device: 'd', task, session: 's', key: `key of ${task}` },
});
const written = (task: string, connection = 1): Event => ({ what: 'written', user, device: 'd', connection, task });
const completed = (task: string, connection = 1): Event => ({ what: 'completed', user, connection, task });
const stopped = (task: string, connection = 1): Event => ({ what: 'stopped', user, connection, task });
const asked = (request: number): Event => ({ what: 'asked', request, user, call: 'GET /x', patienceMs: 1 });
const answered = (request: number, status: number, code = ''): Event => ({
  ...{ what: 'answered', request, status, code, strangers: [] },
});
const judge = (events: Event[], mayCut = false) => judgeJournal(journalOf(...events), { mayCut });

/** Each test breaks one promise, which proves that the verdict reports it. */
describe('the verdict on a journal', () => {
  it('finds no fault in a correct journal', () => {
    const day = [listening(), connected(1), heard(1, 1), heard(1, 2), accepted('t'), written('t'), asked(1)];
    expect(judge([...day, answered(1, 200)])).toEqual([]);
  });

  it('reports a gap in a connection or at its start, unless the app received a resync', () => {
    expect(judge([listening(), connected(1), heard(1, 1), heard(1, 3)])).toHaveLength(1);
    expect(judge([listening(), connected(1), heard(1, 2)])).toHaveLength(1);
    expect(judge([listening(), connected(1), heard(1, 1), resync, heard(1, 3)])).toEqual([]);
    expect(judge([connected(1), listening(), heard(1, 7)])).toEqual([]);
    expect(judge([listening(), connected(1), heard(1, 1), listening('o'), heard(1, 3)])).toHaveLength(1);
  });

  it('reports a frame that an app received twice or late, even after a resync', () => {
    expect(judge([listening(), connected(1), heard(1, 1), heard(1, 1)])).toHaveLength(1);
    expect(judge([listening(), connected(1), heard(1, 1), heard(1, 2), resync, heard(1, 1)])).toHaveLength(1);
  });

  it('tolerates missing frames at the end of a lost connection only', () => {
    const lost = [listening(), connected(1), heard(1, 1), disconnected(1), connected(2), heard(2, 1)];
    expect(judge(lost)).toEqual([]);
    expect(judge([...lost, heard(1, 3)])).toHaveLength(1);
  });

  it('reports a task that was written twice', () => {
    expect(judge([connected(1), written('t'), connected(2), written('t', 2)])).toHaveLength(1);
  });

  it('reports a request without a response, and an unexpected response', () => {
    expect(judge([asked(1)])).toHaveLength(1);
    expect(judge([asked(1), answered(1, 500, 'INTERNAL_ERROR')])).toHaveLength(1);
    expect(judge([asked(1), answered(1, 401, 'INVALID_TOKEN')])).toHaveLength(1);
    expect(judge([asked(1), answered(1, 503, 'SOMETHING')])).toHaveLength(1);
    expect(judge([asked(1), answered(1, 503, 'SERVICE_UNAVAILABLE')])).toEqual([]);
    expect(judge([asked(1), { what: 'cut', request: 1, why: 'Error: socket hang up' }])).toHaveLength(1);
    expect(judge([asked(1), { what: 'cut', request: 1, why: 'Error: socket hang up' }], true)).toEqual([]);
    expect(judge([asked(1), { what: 'cut', request: 1, why: 'TimeoutError: aborted' }], true)).toHaveLength(1);
  });

  it('reports data of another user, and a refusal that blames a credential', () => {
    const foreign: Event = { ...answered(1, 200), strangers: ['user-2'] } as Event;
    expect(judge([asked(1), foreign])).toHaveLength(1);
    expect(judge([{ what: 'refused', who: 'daemon', user, status: 401, code: 'INVALID_TOKEN' }])).toHaveLength(1);
  });
});

describe('the verdict on the database', () => {
  const row = (id: string, state: string, code: string | null = null, seq = 1): TaskRow => ({
    ...{ id, seq, state, session_key: 's', device_id: 'd', owner_id: `issuer|${user}` },
    ...{ error_code: code, result: null },
  });
  const device: DeviceRow = { id: 'd', status: 'online', fence: 5, open: 1 };
  const truth = (tasks: TaskRow[], changes: Partial<DeviceRow> = {}, fence = 5) => ({
    ...{ tasks, devices: [{ ...device, ...changes }], fences: new Map([['d', fence]]) },
  });
  const none = new Set<string>();
  const day = journalOf(connected(1), accepted('t'), written('t'), completed('t'));

  it('finds no fault in a correct database', () => {
    expect(judgeTruth(day, truth([row('t', 'completed')]), none)).toEqual([]);
  });

  it('reports a connected device with status offline, with another fence, or with two open connections', () => {
    expect(judgeTruth(day, truth([row('t', 'completed')], { status: 'offline' }), none)).toHaveLength(1);
    expect(judgeTruth(day, truth([row('t', 'completed')], {}, 4), none)).toHaveLength(1);
    expect(judgeTruth(day, truth([row('t', 'completed')], { open: 2 }), none)).toHaveLength(1);
  });

  it('reports an outcome that no daemon sent, a missing task, and a task that no api accepted', () => {
    for (const state of ['queued', 'expired', 'sent', 'running', 'unknown', 'failed'])
      expect(judgeTruth(day, truth([row('t', state)]), none).length).toBeGreaterThan(0);
    const silent = journalOf(connected(1), accepted('t'), written('t'));
    expect(judgeTruth(silent, truth([row('t', 'completed')]), none)).toHaveLength(1);
    expect(judgeTruth(day, truth([]), none)).toHaveLength(1);
    expect(judgeTruth(day, truth([row('t', 'completed'), row('other', 'cancelled')]), none)).toHaveLength(1);
  });

  it('tolerates a task that was lost with its connection, and reports tasks out of order', () => {
    const lost = journalOf(connected(1), accepted('t'), written('t'), disconnected(1), connected(2));
    expect(judgeTruth(lost, truth([row('t', 'failed', 'TASK_LOST')]), none)).toEqual([]);
    expect(judgeTruth(lost, truth([row('t', 'unknown', 'DELIVERY_UNKNOWN')]), none)).toEqual([]);
    const two = [connected(1), accepted('t'), accepted('u')];
    const rows = [row('t', 'completed'), row('u', 'completed', null, 2)];
    const ends = [completed('t'), completed('u')];
    expect(judgeTruth(journalOf(...two, written('t'), written('u'), ...ends), truth(rows), none)).toEqual([]);
    expect(judgeTruth(journalOf(...two, written('u'), written('t'), ...ends), truth(rows), none)).toHaveLength(1);
  });
});

describe('the excuses of a failover with lost commits', () => {
  const excused = (events: Event[], sentence: string, from = 0) =>
    lossesOf(journalOf(...events), { from, to: events.length }).isExcused(sentence);
  const gone = 'task t of user-1 was accepted and is not there';
  const twice = 'task t of user-1 was written twice';

  it('excuse a missing task or an unknown outcome if the failover could have lost its commit', () => {
    expect(excused([accepted('t')], gone)).toBe(true);
    expect(excused([accepted('t')], 'task t is unknown DELIVERY_UNKNOWN, and its connection lives')).toBe(true);
    expect(excused([accepted('t')], 'task t is failed TASK_LOST, and its daemon completed it')).toBe(true);
    expect(excused([accepted('t')], gone, 1)).toBe(false);
    expect(excused([accepted('another')], gone)).toBe(false);
  });

  it('do not excuse a stuck task, one out of order, or an outcome that its daemon never sent', () => {
    expect(excused([accepted('t')], 'task t is sent , and runs nowhere')).toBe(false);
    expect(excused([accepted('t')], 'task t is queued  and was written')).toBe(false);
    expect(excused([accepted('t')], 'task t overtook an earlier one of its session')).toBe(false);
    expect(excused([accepted('t')], 'task t is completed , and its daemon never said so')).toBe(false);
    expect(excused([accepted('t')], 'task t is failed AGENT_ERROR, and its daemon never said so')).toBe(false);
  });

  it('excuse a task that was written twice only after its daemon had completed or stopped it and reconnected', () => {
    const again = [written('t', 1), completed('t', 1), connected(2), written('t', 2)];
    expect(excused(again, twice)).toBe(true);
    expect(excused([written('t', 1), stopped('t', 1), connected(2), written('t', 2)], twice)).toBe(true);
    expect(excused([written('t', 1), stopped('t', 1), written('t', 1)], twice)).toBe(false);
    expect(excused([written('t', 1), connected(2), written('t', 2), completed('t', 2)], twice)).toBe(false);
    expect(excused([written('t', 1), completed('t', 1), written('t', 1)], twice)).toBe(false);
    expect(excused([...again, connected(3), written('t', 3)], twice)).toBe(false);
  });
});

describe('the verdict on field daemons', () => {
  const text = 'the answer 1 of user-1';
  const row = (id: string, state: string, code: string | null = null, result: string | null = text): TaskRow => ({
    ...{ id, seq: Number(id), state, session_key: 's', device_id: 'd', owner_id: user, error_code: code, result },
  });
  const kept = (task: string, kind: 'answer' | 'question' = 'answer'): Event => ({
    what: 'kept',
    user,
    task,
    kind,
    text,
  });
  const shown: Event = { what: 'shown', user, app: 1, words: wordsIn(text)[0]! };
  const day = [listening(), written('1'), kept('1')];

  it('finds no fault in a correct run', () => {
    expect(judgeField(journalOf(...day, shown), [row('1', 'completed')])).toEqual([]);
    expect(judgeField(journalOf(listening()), [row('1', 'unknown', 'DELIVERY_UNKNOWN', null)])).toEqual([]);
  });

  it('reports a task without an outcome, and a lost task whose answer exists', () => {
    for (const state of ['queued', 'sent', 'running'])
      expect(judgeField(journalOf(...day, shown), [row('1', state)])).toHaveLength(1);
    expect(judgeField(journalOf(...day, shown), [row('1', 'failed', 'TASK_LOST')])).toHaveLength(1);
    expect(judgeField(journalOf(...day, shown), [row('1', 'unknown', 'DELIVERY_UNKNOWN')])).toHaveLength(1);
  });

  it('excuses a first task only while its session has no name and the reports of its daemon hide it', () => {
    const began: Event = { ...accepted('1'), session: 'd:a:PENDING-1' } as Event;
    const later: Event = { ...accepted('2'), session: 'd:a:named' } as Event;
    const hidden: Event = { ...kept('1'), hidden: true } as Event;
    const rows = [row('1', 'unknown', 'DELIVERY_UNKNOWN'), row('2', 'failed')];
    expect(judgeField(journalOf(listening(), began, written('1'), hidden), rows)).toEqual([]);
    expect(judgeField(journalOf(listening(), began, written('1'), kept('1')), rows)).toHaveLength(1);
    expect(judgeField(journalOf(listening(), began, written('1'), hidden, later), rows)).toHaveLength(1);
  });

  it('reports an outcome that differs from that of the daemon', () => {
    expect(judgeField(journalOf(...day, shown), [row('1', 'completed', null, '')])).toHaveLength(1);
    expect(judgeField(journalOf(...day, shown), [row('1', 'waiting')])).toHaveLength(1);
    expect(judgeField(journalOf(listening()), [row('1', 'completed')])).toHaveLength(1);
  });

  it('reports an answer that was shown twice or never, unless its gateway was killed or the app received a resync', () => {
    const rows = [row('1', 'completed')];
    expect(judgeField(journalOf(...day, shown, shown), rows)).toHaveLength(1);
    expect(judgeField(journalOf(...day, resync, shown, shown), rows)).toHaveLength(1);
    expect(judgeField(journalOf(...day, shown, resync, shown), rows)).toEqual([]);
    expect(judgeField(journalOf(...day), rows)).toHaveLength(1);
    expect(judgeField(journalOf(...day, resync), rows)).toEqual([]);
    expect(judgeField(journalOf(...day, { what: 'fault', fault: 'kill gateway-0' }), rows)).toEqual([]);
  });

  it('reports a task that was written before an earlier one, unless it answers a question or an answer that did not arrive', () => {
    const order = journalOf(written('1'), written('3'), written('2'));
    const rows = (first: string) => [row('1', first), row('2', 'failed'), row('3', 'failed')];
    expect(judgeField(order, rows('failed'))).toHaveLength(1);
    expect(judgeField(order, rows('waiting'))).toEqual([]);
    const twice = journalOf(written('1'), written('3'), written('4'), written('2'));
    const answered = (state: string) => [...rows('waiting').slice(0, 2), row('3', state), row('4', 'failed')];
    expect(judgeField(twice, answered('unknown'))).toEqual([]);
    expect(judgeField(twice, answered('failed'))).toHaveLength(1);
  });
});
