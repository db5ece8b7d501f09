import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  activityFacts,
  historyReply,
  progress,
  prompt,
  reportFacts,
  taskOutput,
  taskOutputAsWritten,
  toTime,
} from '../src/sessions/translate.ts';

const now = new Date('2026-03-04T05:06:07.089Z');

describe('toTime', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.678+02:00', '2026-01-02T01:04:05.678Z'],
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['yesterday', now.toISOString()],
    ['', now.toISOString()],
    [null, now.toISOString()],
    [undefined, now.toISOString()],
    ['+275760-09-14T00:00:00Z', now.toISOString()],
  ])('reads %s as %s', (text, time) => {
    expect(toTime(text, now)).toBe(time);
  });

  it('returns a parsable time for any input', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const time = toTime(text, now);
        expect(new Date(time).toISOString()).toBe(time);
      }),
    );
  });
});

describe('reportFacts', () => {
  it('leaves missing fields empty', () => {
    expect(reportFacts({ session_id: 'n' })).toEqual({
      nativeId: 'n',
      title: '',
      projectPath: '',
      filePath: '',
      lastMessage: '',
      messageCount: 0,
      active: undefined,
      lastActivity: undefined,
    });
  });

  it('takes title, project and file path, and neither slug nor project_name', () => {
    const facts = reportFacts({
      session_id: 'n',
      title: '  A title \n',
      slug: 'a-title',
      project: '/p',
      project_name: 'p',
      file_path: ' /as is ',
      is_active: false,
      last_activity: '2026-01-01T00:00:00Z',
    });
    expect(facts).toMatchObject({ title: 'A title', projectPath: '/p', filePath: ' /as is ', active: false });
    expect(facts.lastActivity?.toISOString()).toBe('2026-01-01T00:00:00.000Z');
  });

  it('cuts long texts, never within a character', () => {
    const facts = reportFacts({ session_id: 'n', title: '語'.repeat(500), last_message: '🦀'.repeat(5000) });
    expect(Buffer.byteLength(facts.title)).toBeLessThanOrEqual(200);
    expect(Buffer.byteLength(facts.lastMessage)).toBeLessThanOrEqual(2048);
    expect(`${facts.title}${facts.lastMessage}`).not.toContain('\ufffd');
  });
});

describe('activityFacts', () => {
  it('reports a session as idle when a turn completed, and nothing otherwise', () => {
    expect(activityFacts({ type: 'session_activity', session_id: 'n', is_completion: true }).active).toBe(false);
    expect(activityFacts({ type: 'session_activity', session_id: 'n', is_completion: false }).active).toBeUndefined();
    expect(activityFacts({ type: 'session_activity', session_id: 'n' }).active).toBeUndefined();
  });
});

describe('prompt and progress', () => {
  it('fill in missing fields', () => {
    const known = { id: expect.any(String), text: true, digest: expect.any(String) };
    expect(prompt({ prompt: 'p' }, 't', now)).toEqual({
      ...known,
      prompt: 'p',
      result: '',
      options: [],
      at: now.toISOString(),
    });
    expect(prompt({ prompt: 'p', result: null, options: null }, 't', now)).toMatchObject({ result: '', options: [] });
    expect(progress({ action: 'a' }, now)).toEqual({ action: 'a', target: '', at: now.toISOString() });
  });

  it('keep of an option only its label, and number it', () => {
    const options = [{ label: 'Yes', description: 'do it' }];
    expect(prompt({ prompt: 'p', options }, 't', now).options).toEqual([{ id: '1', label: 'Yes' }]);
  });

  it('name a question after its task and text: a repetition is the same, another text is another question', () => {
    const id = (task: string, asked: string) => prompt({ prompt: asked }, task, now).id;
    expect(id('t', 'a')).toBe(id('t', 'a'));
    expect(new Set([id('t', 'a'), id('t', 'b'), id('u', 'a')]).size).toBe(3);
  });
});

describe('long output', () => {
  const said = 'a line "with" quotes\n'.repeat(100);
  const event = { type: 'event', event_type: 'OUTPUT', task_id: 't"1', output: said };
  const frame = JSON.stringify(event);

  it('passes on as it was written, and means the same', () => {
    const passed = taskOutputAsWritten('s:a:1', event, frame, 7);
    expect(JSON.parse(passed!)).toEqual(taskOutput('s:a:1', 't"1', said, 7));
  });

  it('is encoded again when apps cannot get the original', () => {
    expect(taskOutputAsWritten('s', { ...event, output: undefined }, frame, 1)).toBeUndefined();
    expect(taskOutputAsWritten('s', { ...event, task_id: null }, frame, 1)).toBeUndefined();
    expect(taskOutputAsWritten('s', event, JSON.stringify({ ...event, more: 'of it' }), 1)).toBeUndefined();
    const [nul, long] = [
      { ...event, output: `${said}\0` },
      { ...event, output: 'x'.repeat(100_000) },
    ];
    expect(taskOutputAsWritten('s', nul, JSON.stringify(nul), 1)).toBeUndefined();
    expect(taskOutputAsWritten('s', long, JSON.stringify(long), 1)).toBeUndefined();
  });
});

describe('taskOutput', () => {
  it('names the task only where there is one', () => {
    expect(taskOutput('s', 't', 'o')).toEqual({ type: 'task_output', sessionId: 's', taskId: 't', output: 'o' });
    expect(taskOutput('s', '', 'o')).not.toHaveProperty('taskId');
    expect(taskOutput('s', undefined, 'o')).not.toHaveProperty('taskId');
  });
});

describe('historyReply', () => {
  const frame = { type: 'messages', request_id: 'r' } as const;

  it('takes an error for a failure, also beside messages', () => {
    const reply = historyReply(
      { ...frame, messages: [{ uuid: 'u', role: 'USER', content: 'c' }], error: 'x'.repeat(5000) },
      now,
    );
    expect(reply).toMatchObject({ kind: 'failure', code: 'DEVICE_ERROR' });
    expect(Buffer.byteLength(JSON.stringify(reply))).toBeLessThan(1200);
    expect(historyReply({ ...frame, error: '' }, now)).toMatchObject({ kind: 'page', messages: [] });
  });

  it('fills in cursors from the messages, and trusts given ones', () => {
    const messages = ['a', 'b', 'c'].map((uuid) => ({ uuid, role: 'AGENT', content: uuid }));
    expect(historyReply({ ...frame, messages }, now)).toMatchObject({
      oldestUuid: 'a',
      newestUuid: 'c',
      hasMore: false,
    });
    expect(historyReply({ ...frame, messages, oldest_uuid: 'A', newest_uuid: '' }, now)).toMatchObject({
      oldestUuid: 'A',
      newestUuid: 'c',
    });
    expect(historyReply({ ...frame }, now)).toMatchObject({ oldestUuid: null, newestUuid: null, messages: [] });
  });

  it.each([
    ['USER', 'USER'],
    ['assistant', 'SYSTEM'],
    ['agent', 'AGENT'],
    ['', 'SYSTEM'],
  ])('shows the role %s as %s', (given, shown) => {
    const reply = historyReply(
      { ...frame, messages: [{ uuid: 'u', role: given, content: 'c', timestamp: null }] },
      now,
    );
    expect(reply).toMatchObject({ messages: [{ role: shown, timestamp: now.toISOString() }] });
  });

  it('is deterministic, and does not change its input', () => {
    const given = Object.freeze({
      ...frame,
      messages: Object.freeze([Object.freeze({ uuid: 'u', role: 'user', content: 'c' })]),
    });
    expect(historyReply(given as never, now)).toEqual(historyReply(given as never, now));
  });
});
