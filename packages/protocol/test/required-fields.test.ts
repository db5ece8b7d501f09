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
import { violations } from './violations.ts';

/** These fields choose the schema; another value is another frame, not a wrong field. */
const choosing = new Set(['type', 'event_type', 'kind']);

/** A task completes even if its final text is missing (rules, 3.9). */
const finalTexts = new Set(['from-daemon.event.TASK_COMPLETE result', 'from-daemon.event.ERROR error']);
const isRefused = ([place]: readonly [string, unknown]) => !finalTexts.has(place);

const propertiesOf = (schema: TSchema) => Object.entries((schema.properties ?? {}) as Record<string, TSchema>);
const without = (example: unknown, field: string) =>
  Object.fromEntries(Object.entries(example as object).filter(([name]) => name !== field));
/** A value of no type that a field here could have. */
const wrong = (schema: TSchema): unknown =>
  [schema.type].flat().includes('object') || schema.type === undefined ? 7 : { not: 'this' };

const planes: Record<string, (text: string) => Decoded<unknown>> = {
  'from-daemon': decodeDaemonFrame,
  'to-daemon': decodeRelayFrame,
};
interface Field extends Registered {
  frame: string;
  field: string;
  fieldSchema: TSchema;
}
/** The fields of every frame of a plane, each under the name of its frame and its own. */
const fieldsOf = (plane: string): [string, Field][] =>
  Object.entries(registry)
    .filter(([, entry]) => entry.plane === plane)
    .flatMap(([frame, entry]) =>
      propertiesOf(entry.schema)
        .filter(([field]) => !choosing.has(field))
        .map(([field, fieldSchema]): [string, Field] => [`${frame} ${field}`, { ...entry, frame, field, fieldSchema }]),
    );
const requiredOf = (plane: string) =>
  fieldsOf(plane).filter(([, { schema, field }]) => ((schema.required ?? []) as string[]).includes(field));

describe.each(Object.entries(planes))('a %s frame', (plane, decode) => {
  it('without a required field fails under the name of the field', () => {
    expect(
      violations(requiredOf(plane).filter(isRefused), ({ field, example }) => {
        const decoded = decode(JSON.stringify(without(example, field)));
        expect(decoded).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(`"${field}"`) });
      }),
    ).toEqual([]);
  });

  it('with a field of a wrong type fails under the name of the field', () => {
    // A field that came later counts as not given instead (transcript.test.ts).
    const typed = fieldsOf(plane).filter(([, { fieldSchema }]) => !(later in fieldSchema));
    expect(
      violations(typed.filter(isRefused), ({ frame, field, fieldSchema, example }) => {
        const decoded = decode(JSON.stringify({ ...(example as object), [field]: wrong(fieldSchema) }));
        // An answer that a caller waits for becomes a failure of the daemon, with the same reason.
        if (frame === 'from-daemon.messages' && field !== 'request_id')
          expect(decoded).toMatchObject({ kind: 'frame', frame: { error: expect.stringContaining(`"${field}"`) } });
        else expect(decoded).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(`"${field}"`) });
      }),
    ).toEqual([]);
  });
});

describe('an event', () => {
  it.each([
    ['TASK_COMPLETE', 'result'],
    ['ERROR', 'error'],
  ])('K9: %s without "%s", or with a wrong one, gets an empty text', (eventType, field) => {
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
  it('without a required field decodes to undefined', () => {
    expect(
      violations(requiredOf('instance'), ({ field, example, decode }) => {
        expect(decode?.(JSON.stringify(without(example, field)))).toBeUndefined();
      }),
    ).toEqual([]);
  });

  it('with a required field of a wrong type decodes to undefined', () => {
    expect(
      violations(requiredOf('instance'), ({ field, example, decode }) => {
        expect(decode?.(JSON.stringify({ ...(example as object), [field]: { not: 'this' } }))).toBeUndefined();
      }),
    ).toEqual([]);
  });
});

describe('the frames of an app', () => {
  it.each([{ type: 'auth' }, { type: 'auth', token: 7 }, { type: 'auth', token: null }, { type: 'other', token: 'x' }])(
    'is ignored when it is no auth frame with a token: %j',
    (value) => {
      expect(decodeAppFrame(JSON.stringify(value))).toBeUndefined();
    },
  );
});

describe('a REST body', () => {
  it('without a required field fails under the name of the field', () => {
    expect(
      violations(requiredOf('rest'), ({ field, example, schema }) => {
        expect(validator(schema)(without(example, field))).toEqual({ ok: false, reason: `"${field}" is required` });
      }),
    ).toEqual([]);
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
