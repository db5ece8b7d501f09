/** Everything that travels is registered, has one golden example on disk, and the example is what the schema and the decoder say. */
import { describe, expect, it } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  attentionFrames,
  commands,
  controls,
  daemonEvents,
  fromAppFrames,
  fromDaemonFrames,
  replies,
  type Route,
  routes,
  toDaemonFrames,
  type TSchema,
  validator,
} from '../src/index.ts';
import { registry } from '../src/registry.ts';

const folder = join(import.meta.dirname, '../../../examples');
const onDisk = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length));
const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
const entries = Object.entries(registry);
const registered = new Set(entries.map(([, { schema }]) => schema));

const bodiesOf = (route: Route): [string, TSchema][] =>
  [route.body, ...Object.values(route.success), ...Object.values(route.refusals ?? {})]
    .filter((schema) => schema?.title !== undefined)
    .map((schema) => [`${route.method} ${route.path} ${schema?.title}`, schema as TSchema]);

const tables: Record<string, Readonly<Record<string, TSchema>>> = {
  toDaemonFrames,
  fromDaemonFrames,
  daemonEvents,
  attentionFrames,
  fromAppFrames,
  commands,
  replies,
  controls,
};

describe('the registry', () => {
  it.each(Object.entries(tables))('knows every schema of %s', (_table, schemas) => {
    const forgotten = Object.entries(schemas).filter(([, schema]) => !registered.has(schema));
    expect(forgotten.map(([name]) => name)).toEqual([]);
  });

  it.each(Object.entries<Route>(routes).map(([name, route]) => [name, route] as const))(
    'knows every body of the route %s',
    (_name, route) => {
      expect(
        bodiesOf(route)
          .filter(([, schema]) => !registered.has(schema))
          .map(([name]) => name),
      ).toEqual([]);
    },
  );

  it('knows no REST body that no route uses', () => {
    const used = new Set(Object.values<Route>(routes).flatMap((route) => bodiesOf(route).map(([, schema]) => schema)));
    const unused = entries.filter(([, { plane, schema }]) => plane === 'rest' && !used.has(schema));
    expect(unused.map(([name]) => name)).toEqual(['rest.ErrorResponse']);
  });

  it('has a file for every example, and an entry for every file', () => {
    expect([...onDisk].sort()).toEqual(entries.map(([name]) => name).sort());
  });

  it('describes everything in words', () => {
    expect(entries.filter(([, { description }]) => description === '').map(([name]) => name)).toEqual([]);
  });
});

describe.each(entries)('the example %s', (name, { schema, example, decode }) => {
  const golden = read(name);

  it('fits its schema', () => {
    expect(validator(schema)(golden)).toEqual({ ok: true, value: golden });
  });

  it('survives a round trip', () => {
    expect(JSON.parse(JSON.stringify(golden))).toEqual(golden);
    expect(golden).toEqual(JSON.parse(JSON.stringify(example)));
  });

  if (decode) {
    it('is what the decoder of the receiving side makes of it', () => {
      expect(decode(JSON.stringify(golden))).toEqual(golden);
    });
  }

  if (decode && typeof golden === 'object') {
    it('keeps unknown fields through the decoder', () => {
      const grown = { ...golden, x_from_the_future: { deep: [1, 'two', null] } };
      expect(decode(JSON.stringify(grown))).toEqual(grown);
    });
  }
});
