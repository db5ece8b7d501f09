/**
 * Every text and every list has a limit (S2), and an overlong value from the field is lost alone, without its frame.
 */
import { describe, expect, it } from '@jest/globals';
import { type Route, type TSchema, decodeDaemonFrame, limits, routes } from '../src/index.ts';
import { registry } from '../src/registry.ts';

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The paths of unlimited values. */
function unbounded(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((part, index) => unbounded(part, `${path}[${index}]`));
  if (!isObject(schema)) return [];
  const types = [schema.type].flat();
  const found: string[] = [];
  const closed = schema.enum !== undefined || schema.const !== undefined || schema.format === 'date-time';
  if (types.includes('string') && !closed && typeof schema.maxLength !== 'number') found.push(path);
  if (types.includes('array') && typeof schema.maxItems !== 'number') found.push(path);
  for (const [key, value] of Object.entries(schema)) found.push(...unbounded(value, `${path}.${key}`));
  return found;
}

const queries = Object.entries<Route>(routes).flatMap(([name, { query }]): [string, TSchema][] =>
  query ? [[`query of ${name}`, query]] : [],
);
const schemas = [
  ...Object.entries(registry).map(([name, { schema }]): [string, TSchema] => [name, schema]),
  ...queries,
];

describe('S2: every text and every list has a bound', () => {
  it('finds unlimited values', () => {
    const open = { properties: { a: { type: 'string' }, b: { type: ['array', 'null'], items: { enum: ['x'] } } } };
    expect(unbounded(open, 'open')).toEqual(['open.properties.a', 'open.properties.b']);
  });

  it('S2: holds for each schema and each query', () => {
    expect(schemas.length).toBeGreaterThan(100);
    expect(schemas.flatMap(([name, schema]) => unbounded(schema, name))).toEqual([]);
  });
});

const frameOf = (value: object) => {
  const decoded = decodeDaemonFrame(JSON.stringify(value));
  if (decoded.kind !== 'frame') throw new Error(`${decoded.kind}: ${decoded.reason}`);
  return decoded;
};
const long = (characters: number) => 'x'.repeat(characters + 1);

describe('S2: too long', () => {
  it('a path of a report counts as unknown, and its entry stays', () => {
    const entry = {
      session_id: 'a',
      project: long(limits.pathCharacters),
      file_path: long(limits.pathCharacters),
      title: 'kept',
    };
    const { frame, dropped, shortened } = frameOf({ type: 'report_sessions', sessions: [entry, { session_id: 'b' }] });
    expect(frame).toMatchObject({
      sessions: [{ session_id: 'a', project: null, file_path: null, title: 'kept' }, { session_id: 'b' }],
    });
    expect({ dropped, shortened }).toEqual({ dropped: [], shortened: 2 });
  });

  it('a text of a report is cut, never in the middle of a character', () => {
    const title = `${'x'.repeat(limits.lineCharacters - 1)}😀`;
    const { frame } = frameOf({ type: 'report_sessions', sessions: [{ session_id: 'a', title }] });
    expect(frame).toMatchObject({ sessions: [{ title: 'x'.repeat(limits.lineCharacters - 1) }] });
  });

  it('an id of a report entry costs that entry, and only that', () => {
    const sessions = [{ session_id: long(limits.idCharacters) }, { session_id: 'b' }];
    const { frame, dropped } = frameOf({ type: 'report_sessions', sessions });
    expect(frame).toMatchObject({ sessions: [{ session_id: 'b' }] });
    expect(dropped).toHaveLength(1);
  });

  it('a text of an event is cut, and the task completes all the same', () => {
    const event = { type: 'event', event_type: 'TASK_COMPLETE', task_id: 't', result: long(limits.textCharacters) };
    const { frame, shortened } = frameOf(event);
    expect((frame as { result: string }).result).toHaveLength(limits.textCharacters);
    expect(shortened).toBe(1);
  });

  it('a native id of an event names nothing, and the event stays', () => {
    const event = { type: 'event', event_type: 'OUTPUT', task_id: 't', session_id: long(512), output: 'o' };
    expect(frameOf(event).frame).toMatchObject({ task_id: 't', session_id: null, output: 'o' });
  });

  it('options beyond the hundredth are left out', () => {
    const options = Array.from({ length: 200 }, (_, n) => ({ label: `${n}${long(limits.promptOptionCharacters)}` }));
    const event = { type: 'event', event_type: 'WAIT_FOR_USER', task_id: 't', prompt: 'p', options };
    const { frame } = frameOf(event);
    const kept = (frame as { options: { label: string }[] }).options;
    expect(kept).toHaveLength(limits.promptOptions);
    expect(kept.every(({ label }) => label.length === limits.promptOptionCharacters)).toBe(true);
  });

  it('of a page of history the last messages are kept', () => {
    const messages = Array.from({ length: limits.listItems + 5 }, (_, n) => ({
      uuid: `${n}`,
      role: 'USER',
      content: '',
    }));
    const { frame } = frameOf({ type: 'messages', request_id: 'r', messages });
    const kept = (frame as { messages: { uuid: string }[] }).messages;
    expect(kept).toHaveLength(limits.listItems);
    expect(kept.at(-1)?.uuid).toBe(`${limits.listItems + 4}`);
  });

  it('a list of running tasks is not cut: a missing task counts as lost', () => {
    const running_tasks = Array.from({ length: limits.runningTasks + 1 }, () => '');
    expect(decodeDaemonFrame(JSON.stringify({ type: 'status', running_tasks }))).toMatchObject({ kind: 'invalid' });
  });
});

describe('S3: a report of more entries than the bound', () => {
  it('keeps entries with the newest activity, and counts the rest', () => {
    const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
    const sessions = Array.from({ length: limits.reportEntries + 3 }, (_, n) => ({
      session_id: `${n}`,
      last_activity: at(n),
    }));
    sessions.push({ session_id: 'absurd', last_activity: '+275760-09-13T00:00:00.000Z' });
    const { frame, dropped } = frameOf({ type: 'report_sessions', sessions });
    const kept = (frame as { sessions: { session_id: string }[] }).sessions.map((entry) => entry.session_id);
    expect(kept).toHaveLength(limits.reportEntries);
    expect(kept).not.toContain('absurd');
    expect(kept).not.toContain('2');
    expect(kept).toContain('3');
    expect(dropped).toHaveLength(4);
  });
});
