/** A missing or wrongly typed field of a known frame is refused with a reason that names the field. */
import { describe, expect, it } from '@jest/globals';
import {
  type Decoded,
  decodeAppFrame,
  decodeDaemonFrame,
  decodeRelayFrame,
  type TSchema,
  validator,
} from '../src/index.ts';
import { later } from '../src/schema.ts';
import { type Registered, registry } from '../src/registry.ts';

/** These fields choose the schema; another value is another frame, not a wrong field. */
const choosing = new Set(['type', 'event_type', 'kind']);

/** An ending ends, whatever became of its words (rules, 3.9). */
const wordsOfEndings = new Set(['from-daemon.event.TASK_COMPLETE result', 'from-daemon.event.ERROR error']);
const isRefused = ([name, field]: readonly [string, string, ...unknown[]]) => !wordsOfEndings.has(`${name} ${field}`);

const propertiesOf = (schema: TSchema) => Object.entries((schema.properties ?? {}) as Record<string, TSchema>);
const requiredOf = (schema: TSchema) => ((schema.required ?? []) as string[]).filter((name) => !choosing.has(name));
const without = (example: unknown, field: string) =>
  Object.fromEntries(Object.entries(example as object).filter(([name]) => name !== field));
/** A value of no type that a field here could have. */
const wrong = (schema: TSchema): unknown =>
  [schema.type].flat().includes('object') || schema.type === undefined ? 7 : { not: 'this' };

const planes: Record<string, (text: string) => Decoded<unknown>> = {
  'from-daemon': decodeDaemonFrame,
  'to-daemon': decodeRelayFrame,
};
const cases = (plane: string): [string, Registered][] =>
  Object.entries(registry).filter(([, entry]) => entry.plane === plane);

describe.each(Object.entries(planes))('a %s frame', (plane, decode) => {
  const fields = cases(plane)
    .flatMap(([name, entry]) => requiredOf(entry.schema).map((field) => [name, field, entry.example] as const))
    .filter(isRefused);

  it.each(fields)('%s without "%s" is refused by that name', (_name, field, example) => {
    const decoded = decode(JSON.stringify(without(example, field)));
    expect(decoded).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(`"${field}"`) });
  });

  const typed = cases(plane)
    .flatMap(([name, entry]) =>
      propertiesOf(entry.schema)
        // A field that came later counts as not given instead (transcript.test.ts).
        .filter(([field, schema]) => !choosing.has(field) && !(later in schema))
        .map(([field, schema]) => [name, field, { ...(entry.example as object), [field]: wrong(schema) }] as const),
    )
    .filter(isRefused);

  it.each(typed)('%s with a wrong "%s" is refused by that name', (name, field, value) => {
    const decoded = decode(JSON.stringify(value));
    // An answer that a caller waits for becomes a failure of the daemon, with the same reason.
    if (name === 'from-daemon.messages' && field !== 'request_id')
      expect(decoded).toMatchObject({ kind: 'frame', frame: { error: expect.stringContaining(`"${field}"`) } });
    else expect(decoded).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(`"${field}"`) });
  });
});

describe('an event', () => {
  it.each([
    ['TASK_COMPLETE', 'result'],
    ['ERROR', 'error'],
  ])('K9: %s without "%s", or with a wrong one, ends with an empty text', (eventType, field) => {
    for (const words of [{}, { [field]: null }, { [field]: { not: 'this' } }]) {
      const text = JSON.stringify({ type: 'event', task_id: 't', event_type: eventType, ...words });
      expect(decodeDaemonFrame(text)).toMatchObject({ kind: 'frame', frame: { [field]: '' } });
    }
  });

  it.each([{ type: 'event' }, { type: 'event', event_type: 7 }, { type: 'event', event_type: null }])(
    'without a text event_type is refused by that name: %j',
    (value) => {
      expect(decodeDaemonFrame(JSON.stringify(value))).toMatchObject({
        kind: 'invalid',
        reason: expect.stringContaining('"event_type"'),
      });
    },
  );
});

describe('a frame between instances', () => {
  const fields = cases('instance').flatMap(([name, { schema, example, decode }]) =>
    requiredOf(schema).map((field) => [name, field, example, decode] as const),
  );

  it.each(fields)('%s without "%s" is ignored', (_name, field, example, decode) => {
    expect(decode?.(JSON.stringify(without(example, field)))).toBeUndefined();
  });

  it.each(fields)('%s with a wrong "%s" is ignored', (_name, field, example, decode) => {
    expect(decode?.(JSON.stringify({ ...(example as object), [field]: { not: 'this' } }))).toBeUndefined();
  });
});

describe('what an app sends', () => {
  it.each([{ type: 'auth' }, { type: 'auth', token: 7 }, { type: 'auth', token: null }, { type: 'other', token: 'x' }])(
    'is ignored when it is no auth frame with a token: %j',
    (value) => {
      expect(decodeAppFrame(JSON.stringify(value))).toBeUndefined();
    },
  );
});

describe('a REST body', () => {
  const fields = cases('rest').flatMap(([name, { schema, example }]) =>
    requiredOf(schema).map((field) => [name, field, example, schema] as const),
  );

  it.each(fields)('%s without "%s" is refused by that name', (_name, field, example, schema) => {
    expect(validator(schema)(without(example, field))).toEqual({ ok: false, reason: `"${field}" is required` });
  });

  it('names a wrong field deep inside', () => {
    const { schema, example } = registry['rest.SessionDetail'] as Registered;
    const body = JSON.parse(JSON.stringify(example)) as { messages: { role: unknown }[] };
    (body.messages[1] as { role: unknown }).role = 'ROBOT';
    expect(validator(schema)(body)).toEqual({
      ok: false,
      reason: '"messages.1.role" must be one of USER, AGENT, SYSTEM',
    });
  });
});
