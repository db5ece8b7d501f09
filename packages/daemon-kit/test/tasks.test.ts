import { afterEach, describe, expect, it } from '@jest/globals';
import type { Agent, RunningTurn, TurnReport } from '../src/index.ts';
import { echo, house, playing } from './house.ts';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';

const home = house();
afterEach(() => home.clear());

const begin = async (agent: Agent) => {
  const relay = await home.relay();
  const daemon = home.daemon(relay, agent);
  const connection = await relay.connection();
  await daemon.connected();
  return { relay, daemon, connection };
};
const start = (connection: DoubleConnection, taskId: string, instruction = 'hello') =>
  connection.send({ type: 'task_start', task_id: taskId, instruction });
const opening = ['status[]', 'report_sessions'];

/** An agent that uses its report as the test demands. */
const agent = (act: (report: TurnReport) => Partial<RunningTurn> | void): Agent => ({
  start: (_turn, report) => ({ ended: Promise.resolve(), cancel: () => Promise.resolve(), ...act(report) }),
});

describe('a task (specification §3)', () => {
  it('goes through status, SESSION_STARTED, its events, one outcome, and status', async () => {
    const { connection } = await begin(
      playing([
        { type: 'progress', action: 'Reading', target: 'README.md' },
        { type: 'progress', action: 'Thinking' },
        { type: 'output', output: 'verbose' },
        { type: 'complete', text: 'Done with "{message}" in {session}' },
      ]),
    );
    start(connection, 't1', 'my words');
    await connection.event('TASK_COMPLETE', 't1');
    await connection.status();
    expect(connection.words()).toEqual([
      ...opening,
      'status[t1]',
      'SESSION_STARTED t1',
      'PROGRESS t1',
      'PROGRESS t1',
      'OUTPUT t1',
      'TASK_COMPLETE t1',
      'status[]',
    ]);
    const [started, reading, thinking, output, complete] = connection.frames.filter((frame) => frame.type === 'event');
    const sessionId = started?.session_id ?? '';
    expect(sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(reading).toMatchObject({ action: 'Reading', target: 'README.md', session_id: sessionId });
    expect(thinking).toMatchObject({ action: 'Thinking', target: '' });
    expect(output).toMatchObject({ output: 'verbose' });
    expect(complete).toMatchObject({ result: `Done with "my words" in ${sessionId}` });
  });

  it('waits for the user with prompt, result and options, leaves running_tasks, and continues with the answer', async () => {
    const { connection } = await begin(
      playing([
        { type: 'say', text: 'Two ways.' },
        { type: 'wait', prompt: 'Which?', options: ['Left', 'Right'] },
        { type: 'complete', text: 'Went {message}' },
      ]),
    );
    start(connection, 't1');
    const wait = await connection.event('WAIT_FOR_USER', 't1');
    expect(wait).toMatchObject({
      prompt: 'Which?',
      result: 'Two ways.',
      options: [{ label: 'Left' }, { label: 'Right' }],
    });
    await connection.status();
    connection.send({ type: 'task_resume', task_id: 't2', session_id: wait.session_id ?? '', message: 'Left' });
    expect(await connection.event('TASK_COMPLETE', 't2')).toMatchObject({
      result: 'Went Left',
      session_id: wait.session_id,
    });
    await connection.status();
    expect(connection.words().slice(2)).toEqual([
      'status[t1]',
      'SESSION_STARTED t1',
      'WAIT_FOR_USER t1',
      'status[]',
      'status[t2]',
      'TASK_COMPLETE t2',
      'status[]',
    ]);
  });

  it('fails with ERROR if the session to resume is unknown', async () => {
    const { connection } = await begin(echo());
    connection.send({ type: 'task_resume', task_id: 't1', session_id: 'nobody', message: 'hello' });
    expect((await connection.event('ERROR', 't1')).error).toContain('no such session');
    await connection.status();
    expect(connection.words()).toEqual([...opening, 'status[t1]', 'ERROR t1', 'status[]']);
  });

  it.each<[string, Agent, string]>([
    ['reports an error', playing([{ type: 'error', error: 'broken {message}' }]), 'broken hello'],
    ['crashes in the middle', playing([{ type: 'progress', action: 'x' }, { type: 'crash' }]), 'crashed'],
    ['finishes without an answer', playing([{ type: 'progress', action: 'x' }]), 'without an answer'],
    ['has no turn for the message', playing({ match: '^never$', steps: [{ type: 'crash' }] }), 'no turn'],
    [
      'throws while it starts',
      agent(() => {
        throw new Error('cannot even start');
      }),
      'cannot even start',
    ],
    [
      'rejects with a value other than an Error',
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- agents may be written in plain JavaScript
      agent(() => ({ ended: Promise.reject('a bare text') })),
      'a bare text',
    ],
  ])('has exactly one outcome, ERROR, when the agent %s', async (_name, broken, words) => {
    const { connection } = await begin(broken);
    start(connection, 't1');
    expect((await connection.event('ERROR', 't1')).error).toContain(words);
    await connection.status();
    await connection.settle();
    expect(connection.ends('t1')).toHaveLength(1);
  });

  it('has exactly one outcome when the agent reports several and then fails', async () => {
    const { connection } = await begin(
      agent((report) => {
        report.complete('first');
        report.error('second');
        report.wait({ prompt: 'third' });
        report.progress('too', 'late');
        report.output('too late');
        return { ended: Promise.reject(new Error('fourth')) };
      }),
    );
    start(connection, 't1');
    await connection.status('t1');
    await connection.status();
    await connection.settle();
    expect(connection.ends('t1')).toEqual([expect.objectContaining({ event_type: 'TASK_COMPLETE', result: 'first' })]);
    expect(connection.words().slice(2)).toEqual(['status[t1]', 'SESSION_STARTED t1', 'TASK_COMPLETE t1', 'status[]']);
  });

  it('cancels an agent that lingers after its result, so that the session can continue', async () => {
    let cancelled = 0;
    const relay = await home.relay();
    const lingering: Agent = {
      start(_turn, report) {
        let end = (): void => undefined;
        const ended = new Promise<void>((resolve) => (end = resolve));
        setImmediate(() => report.complete('done, but still here'));
        return {
          ended,
          cancel: () => {
            cancelled++;
            end();
            return Promise.resolve();
          },
        };
      },
    };
    home.daemon(relay, lingering, { timings: { lingerMs: 10 } });
    const connection = await relay.connection();
    start(connection, 't1');
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't1');
    connection.send({ type: 'task_resume', task_id: 't2', session_id: sessionId ?? '', message: 'again' });
    await connection.event('TASK_COMPLETE', 't2');
    expect(cancelled).toBeGreaterThanOrEqual(1);
  });

  it('does not run again when its id is repeated', async () => {
    const { connection } = await begin(echo());
    start(connection, 't1');
    await connection.event('TASK_COMPLETE', 't1');
    start(connection, 't1');
    start(connection, 't2');
    await connection.event('TASK_COMPLETE', 't2');
    await connection.settle();
    expect(connection.words().filter((word) => word.endsWith(' t1'))).toEqual([
      'SESSION_STARTED t1',
      'TASK_COMPLETE t1',
    ]);
  });

  it('waits for the earlier turn of the same session, while other sessions run', async () => {
    const { connection } = await begin(
      playing(
        { match: '^hang', steps: [{ type: 'hang' }] },
        { match: '', steps: [{ type: 'complete', text: '{message}' }] },
      ),
    );
    start(connection, 't1', 'first');
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't1');
    for (const [taskId, message] of [
      ['t2', 'hang'],
      ['t3', 'third'],
      ['t4', 'fourth'],
    ] as const) {
      connection.send({ type: 'task_resume', task_id: taskId, session_id: sessionId ?? '', message });
    }
    await connection.status('t2', 't3', 't4');
    start(connection, 'other', 'elsewhere');
    await connection.event('TASK_COMPLETE', 'other');
    expect(connection.ends('t3')).toEqual([]);
    connection.send({ type: 'task_cancel', task_id: 't2' });
    await connection.event('TASK_COMPLETE', 't3');
    await connection.event('TASK_COMPLETE', 't4');
    await connection.status();
  });

  it('sends nothing after task_cancel but a status without it', async () => {
    const { connection } = await begin(
      playing({ match: '^hang', steps: [{ type: 'progress', action: 'Waiting' }, { type: 'hang' }] }, [
        { type: 'complete', text: 'ok' },
      ]),
    );
    start(connection, 't1', 'hang');
    await connection.event('PROGRESS', 't1');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    await connection.status();
    start(connection, 't2', 'later');
    await connection.event('TASK_COMPLETE', 't2');
    await connection.settle();
    expect(connection.ends('t1')).toEqual([]);
    expect(connection.words().slice(2, 6)).toEqual(['status[t1]', 'SESSION_STARTED t1', 'PROGRESS t1', 'status[]']);
  });

  it('can be cancelled while it waits for its turn', async () => {
    const { connection } = await begin(
      playing({ match: '^hang', steps: [{ type: 'hang' }] }, [{ type: 'complete', text: 'ok' }]),
    );
    start(connection, 't1', 'hang');
    const { session_id: sessionId } = await connection.event('SESSION_STARTED', 't1');
    for (const taskId of ['t2', 't3']) {
      connection.send({ type: 'task_resume', task_id: taskId, session_id: sessionId, message: 'next' });
    }
    connection.send({ type: 'task_cancel', task_id: 't2' });
    await connection.status('t1', 't3');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    await connection.event('TASK_COMPLETE', 't3');
    expect(connection.ends('t2')).toEqual([]);
  });

  it('that is unknown can be cancelled; the reply is a status', async () => {
    const { connection } = await begin(echo());
    await connection.status();
    connection.send({ type: 'task_cancel', task_id: 'unknown' });
    await connection.status();
  });

  it('fails with ERROR when the daemon is stopped, before the socket closes', async () => {
    const { connection, daemon } = await begin(playing([{ type: 'hang' }]));
    start(connection, 't1');
    await connection.status('t1');
    await daemon.stop();
    await connection.closed;
    expect(connection.words().slice(-3)).toEqual(['stopping', 'ERROR t1', 'status[]']);
    expect(connection.ends('t1')).toMatchObject([{ error: 'The daemon was stopped.' }]);
  });

  it('keeps its fields within their bounds for any report of the agent', async () => {
    const { connection } = await begin(
      agent((report) => {
        report.progress('é'.repeat(10_000), 'x'.repeat(10_000));
        report.output('x'.repeat(1_000_000));
        report.complete(`${'é'.repeat(300_000)}end`);
      }),
    );
    start(connection, 't1');
    const progress = await connection.event('PROGRESS', 't1');
    expect(Buffer.byteLength(progress.action)).toBeLessThanOrEqual(1024);
    const output = await connection.event('OUTPUT', 't1');
    expect(Buffer.byteLength(output.output)).toBeLessThanOrEqual(65 * 1024);
    const { result } = await connection.event('TASK_COMPLETE', 't1');
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(256 * 1024);
    expect(result.endsWith('éend')).toBe(true);
    expect(result).not.toContain('\ufffd');
  });
});
