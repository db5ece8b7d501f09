/** Proves that the checks can fail: the matching check finds a daemon with exactly one fault. */
import { describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { type Subject, daemonChecks, runDaemonCheck } from '../src/conformance/index.ts';

type Frame = Record<string, unknown> & { type: string };
interface Faults {
  silent?: true;
  noStatus?: true;
  twoEnds?: true;
  noSession?: true;
  runsTwice?: true;
  speaksAfterCancel?: true;
  leavesOnNonsense?: true;
  staysAway?: true;
  tellsEverybody?: true;
  wrongFrame?: true;
  /** Declares transcripts and has this fault; `right` is faultless. */
  transcript?: 'right' | 'own uuid' | 'other page' | 'older version';
  /** Declares named questions. */
  prompts?: 'right' | 'takes any';
  /** Declares settings. */
  settings?: 'right' | 'takes any' | 'changes nothing' | 'foreign value';
  /** Takes messages into a turn. */
  steer?: 'right' | 'other outcome' | 'after the turn';
  /** Declares content. */
  content?: 'right' | 'has everything';
}

/** A minimal daemon that answers every task at once, with the given faults. */
function daemonWith(faults: Faults): Subject {
  return {
    start({ server, deviceId, refreshToken }) {
      const sockets: WebSocket[] = [];
      const running = new Set<string>();
      const seen = new Set<string>();
      const steered = new Map<string, string>();
      let stopped = false;
      let mode = 'ask';
      const connect = () => {
        const declared = (['transcript', 'prompts', 'settings', 'content', 'steer'] as const).filter(
          (name) => faults[name],
        );
        const headers = {
          Authorization: `Bearer ${refreshToken}`,
          'X-Device-ID': deviceId,
          ...(declared.length > 0 ? { 'X-Daemon-Capabilities': declared.join(',') } : {}),
        };
        const socket = new WebSocket(`${server.replace('http', 'ws')}/ws/daemon`, { headers, maxPayload: 2 ** 25 });
        sockets.push(socket);
        const send = (frame: Frame) => socket.send(JSON.stringify(frame));
        const status = () => send({ type: 'status', running_tasks: [...running] });
        const event = (task: unknown, type: string, fields = {}) =>
          send({ type: 'event', task_id: task, event_type: type, session_id: 's1', ...fields });
        let items: object[] = [];
        const transcribe = (task: string, uuid: unknown) => {
          const more = { timestamp: '2026-01-01T00:00:00.000Z', turn: 't' };
          const [user, agent] = [
            { uuid: faults.transcript === 'own uuid' ? 'u0' : uuid, seq: 1, role: 'USER', content: 'hello', ...more },
            { uuid: 'u1', seq: 2, role: 'AGENT', content: 'yes', ...more },
          ].map((item) => ({ ...item, part: { kind: item.role === 'USER' ? 'user' : 'text' } }));
          const tell = (v: number, item: object | undefined) =>
            send({
              type: 'event',
              event_type: 'TRANSCRIPT',
              task_id: task,
              session_id: 's1',
              v,
              ops: [{ op: 'put', item }],
            });
          tell(5, user);
          tell(faults.transcript === 'older version' ? 4 : 6, agent);
          items = [
            { ...user, v: 5 },
            { ...agent, v: 6, ...(faults.transcript === 'other page' ? { content: 'no' } : {}) },
          ];
          event(task, 'TASK_COMPLETE', { result: 'yes', message_uuid: 'u1' });
        };
        const run = (task: string, message: unknown, uuid?: unknown) => {
          if (seen.has(task) && !faults.runsTwice) return;
          seen.add(task);
          running.add(task);
          status();
          if (!faults.noSession) event(task, 'SESSION_STARTED');
          if (message === 'hang') return;
          if (faults.prompts && message === 'ask') {
            const question = { uuid: 'q1', title: 'Go?', kind: 'choice', options: [{ id: 'a', label: 'Yes' }] };
            event(task, 'WAIT_FOR_USER', { prompt: 'Go?', question });
            return;
          }
          if (faults.transcript) return transcribe(task, uuid);
          const ends = faults.twoEnds ? 2 : 1;
          if (faults.wrongFrame) event(task, 'PROGRESS', { action: 7 });
          for (let end = 0; end < ends; end++) event(task, 'TASK_COMPLETE', { result: 'yes' });
          if (faults.tellsEverybody) send({ type: 'session_activity', session_id: 's2', message_count: 1 });
          running.delete(task);
          status();
        };
        socket.on('error', () => undefined);
        socket.on('open', () => {
          if (!faults.noStatus) status();
          send({ type: 'report_sessions', sessions: [] });
        });
        socket.on('close', () => {
          if (!stopped && !faults.staysAway) setTimeout(connect, 10);
        });
        socket.on('message', (data: Buffer) => {
          let frame: Frame;
          try {
            frame = JSON.parse(data.toString()) as Frame;
          } catch {
            if (faults.leavesOnNonsense) socket.terminate();
            return;
          }
          const task = String(frame.task_id);
          if (frame.type === 'ping' && !faults.silent) send({ type: 'pong' });
          if (frame.type === 'task_start' && typeof frame.instruction === 'string')
            run(task, frame.instruction, frame.message_uuid);
          if (frame.type === 'task_resume') {
            if (frame.prompt_uuid === 'q1' || faults.prompts === 'takes any')
              event(task, 'TASK_COMPLETE', { result: 'ok' });
            else event(task, 'ERROR', { error: 'too late', code: 'PROMPT_SUPERSEDED' });
          }
          if (frame.type === 'get_messages') {
            const { request_id, changed } = frame;
            send({ type: 'messages', request_id, v: 6, messages: changed === undefined ? items : [] });
          }
          if (frame.type === 'content_request') {
            const reply = { type: 'content_response', request_id: frame.request_id, session_id: frame.session_id };
            if (faults.content === 'has everything') send({ ...reply, mime: 'text/plain', size: 1, data: 'eA==' });
            else send({ ...reply, code: 'CONTENT_NOT_FOUND', error: 'no' });
          }
          if (frame.type === 'settings_request') {
            const { request_id, session_id, change } = frame;
            const reply = { type: 'settings_response', request_id, session_id };
            if (session_id !== 's1') return send({ ...reply, error: 'no such session' });
            const { id, value } = (change ?? { id: 'mode', value: mode }) as { id: string; value: string };
            if (faults.settings !== 'takes any' && (id !== 'mode' || !['ask', 'code'].includes(value)))
              return send({ ...reply, code: 'INVALID_SETTING', error: 'no' });
            if (faults.settings !== 'changes nothing') mode = value;
            const options = ['ask', 'code'].map((name) => ({ id: name, name }));
            const current = faults.settings === 'foreign value' ? 'plan' : mode;
            send({ ...reply, settings: [{ id: 'mode', kind: 'mode', name: 'Mode', value: current, options }] });
          }
          if (frame.type === 'task_steer') {
            const runs = faults.steer === 'after the turn' || running.has(String(frame.into));
            const known = faults.steer === 'other outcome' && steered.has(task) ? 'refused' : steered.get(task);
            steered.set(task, known ?? (runs ? 'injected' : 'not_running'));
            event(task, 'STEERED', { outcome: steered.get(task) });
          }
          if (frame.type === 'task_cancel') {
            running.delete(task);
            status();
            if (faults.speaksAfterCancel) event(task, 'TASK_COMPLETE', { result: 'late' });
          }
        });
      };
      connect();
      return {
        stop() {
          stopped = true;
          for (const socket of sockets) socket.terminate();
          return Promise.resolve();
        },
      };
    },
  };
}

const check = (words: string) => {
  const found = daemonChecks.find(({ name }) => name.includes(words));
  if (!found) throw new Error(`no check is about "${words}"`);
  return found;
};

describe('a faulty daemon', () => {
  it.each<[string, Faults, string]>([
    ['sends no status after connecting', { noStatus: true }, 'sends status'],
    ['ends a task twice', { twoEnds: true }, 'runs a task from status'],
    ['sends frames that are not in the protocol', { wrongFrame: true }, 'runs tasks of different'],
    ['runs a repeated task again', { runsTwice: true }, 'only once'],
    ['sends a frame about a task after its cancel', { speaksAfterCancel: true }, 'cancelled task'],
    ['disconnects after an invalid frame', { leavesOnNonsense: true }, 'ignores frames'],
    ['sends activity of unwatched sessions', { tellsEverybody: true }, 'session_activity'],
    ['does not reconnect', { staysAway: true }, 'asks it to'],
    ['does not keep the uuid of a message', { transcript: 'own uuid' }, 'with `transcript`'],
    ['sends other operations than its page has', { transcript: 'other page' }, 'with `transcript`'],
    ['goes back to an older version', { transcript: 'older version' }, 'with `transcript`'],
    ['applies a choice to another question', { prompts: 'takes any' }, 'with `prompts`'],
    ['claims to know every version', { transcript: 'right' }, 'answers `changed`'],
    ['lists no open question', { prompts: 'right' }, 'lists a question'],
    ['keeps a question that is dismissed', { prompts: 'right' }, 'closes a question'],
    ['accepts any value', { settings: 'takes any' }, 'answers settings_request'],
    ['does not make a change', { settings: 'changes nothing' }, 'answers settings_request'],
    ['has a value outside the options', { settings: 'foreign value' }, 'answers settings_request'],
    ['claims content that does not exist', { transcript: 'right', content: 'has everything' }, 'with `content`'],
    ['reports a message into a turn twice, each time otherwise', { steer: 'other outcome' }, 'with `steer`'],
    ['takes a message into a turn that is over', { steer: 'after the turn' }, 'with `steer`'],
    ['does not answer pings', { silent: true }, 'answers ping'],
  ])('fails a check when it %s', async (_name, faults, words) => {
    expect((await runDaemonCheck(check(words), daemonWith(faults), { waitMs: 1000 })).problem).toEqual(
      expect.any(String),
    );
  });

  it.each<[string, Faults]>([
    ['with `transcript`', { transcript: 'right' }],
    ['with `prompts`', { prompts: 'right' }],
    ['with `transcript`', {}],
    ['answers settings_request', { settings: 'right' }],
    ['answers settings_request', {}],
    ['with `content`', { transcript: 'right', content: 'right' }],
    ['with `content`', {}],
    ['with `steer`', { steer: 'right' }],
    ['with `steer`', {}],
  ])('passes the check "%s" without a fault: %j', async (words, faults) => {
    expect((await runDaemonCheck(check(words), daemonWith(faults))).problem).toBeUndefined();
  });

  it.each([
    'sends status',
    'runs a task from status',
    'only once',
    'cancelled task',
    'ignores frames',
    'asks it to',
    'answers ping',
  ])('passes the check "%s" without a fault', async (words) => {
    expect((await runDaemonCheck(check(words), daemonWith({}))).problem).toBeUndefined();
  });
});
