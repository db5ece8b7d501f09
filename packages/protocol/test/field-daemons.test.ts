/** The frames that daemons in the field really send, spelling by spelling. */
import { describe, expect, it } from '@jest/globals';
import { decodeDaemonFrame, type FromDaemonFrame } from '../src/index.ts';

const decode = (frame: unknown) => decodeDaemonFrame(JSON.stringify(frame));
const accepted = (frame: unknown): FromDaemonFrame => {
  const decoded = decode(frame);
  if (decoded.kind !== 'frame') throw new Error(`${decoded.kind}: ${decoded.reason}`);
  return decoded.frame;
};

describe('report_sessions from the field', () => {
  const report = (...sessions: unknown[]) => decode({ type: 'report_sessions', sessions });

  it('can be empty', () => {
    expect(report()).toEqual({ kind: 'frame', frame: { type: 'report_sessions', sessions: [] }, dropped: [] });
  });

  it('can spell session_id as id and project as project_path', () => {
    expect(report({ id: 'n1', project_path: '/p' })).toMatchObject({
      frame: { sessions: [{ session_id: 'n1', project: '/p' }] },
      dropped: [],
    });
  });

  it('can carry both spellings; the newer one counts', () => {
    const both = { session_id: 'new', id: 'old', project: '/new', project_path: '/old' };
    expect(report(both)).toMatchObject({ frame: { sessions: [{ session_id: 'new', project: '/new' }] } });
  });

  it('can carry the newer spelling as null beside the older one', () => {
    const both = { session_id: null, id: 'old', project: null, project_path: '/old' };
    expect(report(both)).toMatchObject({ frame: { sessions: [{ session_id: 'old', project: '/old' }] } });
  });

  it('can have null for everything but the id', () => {
    const entry = {
      session_id: 'n1',
      last_message: null,
      last_activity: null,
      is_active: null,
      message_count: null,
      title: null,
      slug: null,
      project: null,
      project_name: null,
      file_path: null,
    };
    expect(report(entry)).toMatchObject({ frame: { sessions: [entry] }, dropped: [] });
  });

  it('can name a session with colons and slashes', () => {
    expect(report({ session_id: 'a:b/c:d' })).toMatchObject({ frame: { sessions: [{ session_id: 'a:b/c:d' }] } });
  });

  it('keeps its valid entries and gives reasons for the rest', () => {
    const decoded = report(
      { session_id: 'good' },
      { title: 'no id' },
      { session_id: 'PENDING-01KKNSR4J0JQ7D587X9M2RYZR0' },
      { session_id: 'x'.repeat(513) },
      { session_id: '' },
      { session_id: 'n', message_count: 1e30 },
      { session_id: 'n', message_count: 'three' },
      'text',
      null,
      [],
      { session_id: 'also good' },
    );
    expect(decoded).toMatchObject({ frame: { sessions: [{ session_id: 'good' }, { session_id: 'also good' }] } });
    expect(decoded.kind === 'frame' && decoded.dropped).toEqual([
      '"session_id" is required',
      '"session_id" may not begin with PENDING-',
      '"session_id" must NOT have more than 512 characters',
      '"session_id" must NOT have fewer than 1 characters',
      '"message_count" must be <= 2147483647',
      '"message_count" must be integer,null',
      'the value must be object',
      'the value must be object',
      'the value must be object',
    ]);
  });

  it('counts every wrong entry but explains only the first hundred', () => {
    const decoded = report(...Array.from({ length: 250 }, () => ({})));
    const dropped = decoded.kind === 'frame' ? decoded.dropped : [];
    expect(dropped).toHaveLength(250);
    expect(dropped.filter((reason) => reason === '"session_id" is required')).toHaveLength(100);
  });

  it.each([undefined, null, {}, 'text', 7])('is refused as a whole when sessions is %j', (sessions) => {
    expect(decode({ type: 'report_sessions', sessions })).toMatchObject({
      kind: 'invalid',
      reason: expect.stringContaining('"sessions"'),
    });
  });
});

describe('events from the field', () => {
  it.each(['OUTPUT', 'TASK_COMPLETE', 'WAIT_FOR_USER', 'PROGRESS', 'ERROR', 'WARNING'])(
    '%s may carry the session_id',
    (eventType) => {
      const fields = { output: 'o', result: 'r', prompt: 'p', action: 'a', error: 'e', warning: 'w' };
      const frame = { type: 'event', event_type: eventType, task_id: 't', session_id: 'n:1', ...fields };
      expect(accepted(frame)).toMatchObject({ session_id: 'n:1' });
    },
  );

  it('WAIT_FOR_USER can lack result and options, or have null', () => {
    const frame = { type: 'event', event_type: 'WAIT_FOR_USER', task_id: 't', prompt: 'Go on?' };
    expect(accepted(frame)).toEqual(frame);
    expect(accepted({ ...frame, result: null, options: null })).toMatchObject({ prompt: 'Go on?' });
  });

  it('WAIT_FOR_USER with an unlabelled option gets an error that names the field', () => {
    const frame = { type: 'event', event_type: 'WAIT_FOR_USER', task_id: 't', prompt: 'p', options: [{ text: 'yes' }] };
    expect(decode(frame)).toEqual({
      kind: 'invalid',
      reason: 'event WAIT_FOR_USER: "options.0.label" is required',
    });
  });

  it('VERBOSE can carry output or content, or neither', () => {
    for (const text of [{ output: 'o' }, { content: 'c' }, { output: null, content: 'c' }, {}]) {
      expect(accepted({ type: 'event', event_type: 'VERBOSE', task_id: '', session_id: 'n', ...text })).toMatchObject(
        text,
      );
    }
  });

  it.each(['AGENT_RESPONSE', 'USER_MESSAGE'])('%s needs a session and a text, and no task', (eventType) => {
    const frame = { type: 'event', event_type: eventType, session_id: 'n', content: 'hello' };
    for (const task of [{}, { task_id: '' }, { task_id: null }]) {
      expect(accepted({ ...frame, ...task })).toMatchObject(frame);
    }
    expect(decode({ ...frame, session_id: '' })).toMatchObject({ kind: 'invalid' });
  });

  it('can carry the extra fields of newer daemons', () => {
    const frame = {
      type: 'event',
      event_type: 'WAIT_FOR_USER',
      task_id: 't',
      prompt: 'Run it?',
      user_message_uuid: 'u',
      context: { tokens: 12 },
      permission_tool: 'Bash',
      tool: 'Bash',
      arg_summary: 'npm test',
    };
    expect(accepted(frame)).toEqual(frame);
  });
});

describe('other frames from the field', () => {
  it('messages can carry an error and nothing else', () => {
    const frame = { type: 'messages', request_id: 'r', error: 'no such session' };
    expect(accepted(frame)).toEqual(frame);
  });

  it('messages can lack oldest_uuid and newest_uuid, or have null', () => {
    const frame = { type: 'messages', request_id: 'r', session_id: 'n', messages: [], has_more: false };
    expect(accepted(frame)).toEqual(frame);
    expect(accepted({ ...frame, oldest_uuid: null, newest_uuid: null })).toMatchObject(frame);
  });

  it('messages can hold an unknown role or time', () => {
    const message = { uuid: 'u', role: 'TOOL', content: 'c', timestamp: 'yesterday' };
    expect(accepted({ type: 'messages', request_id: 'r', messages: [message] })).toMatchObject({ messages: [message] });
  });

  it('session_activity can count zero messages at a completion', () => {
    const frame = { type: 'session_activity', session_id: 'n', is_completion: true, message_count: 0 };
    expect(accepted(frame)).toEqual(frame);
  });

  it('status can name tasks in any spelling', () => {
    const frame = { type: 'status', running_tasks: ['a:b', '', 'ü'] };
    expect(accepted(frame)).toEqual(frame);
  });
});
