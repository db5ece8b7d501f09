/** Everything on the wire is registered, has one golden example on disk, and the example matches schema and decoder. */
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
import { violations } from './violations.ts';

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
  it('knows every schema of each table', () => {
    const all = Object.entries(tables).flatMap(([table, schemas]) =>
      Object.entries(schemas).map(([name, schema]) => [`${table}.${name}`, schema] as const),
    );
    expect(all.filter(([, schema]) => !registered.has(schema)).map(([name]) => name)).toEqual([]);
    expect(Object.entries(tables).filter(([, schemas]) => Object.keys(schemas).length === 0)).toEqual([]);
  });

  it('knows every body of each route', () => {
    const bodies = Object.values<Route>(routes).flatMap(bodiesOf);
    expect(bodies.length).toBeGreaterThan(50);
    expect(bodies.filter(([, schema]) => !registered.has(schema)).map(([name]) => name)).toEqual([]);
  });

  it('has a file for every example, and an entry for every file', () => {
    expect([...onDisk].sort()).toEqual(entries.map(([name]) => name).sort());
  });

  it('describes everything', () => {
    expect(entries.filter(([, { description }]) => description === '').map(([name]) => name)).toEqual([]);
  });
});

describe('every golden example', () => {
  const decoded = entries.filter(([, { decode }]) => decode);

  it('fits its schema', () => {
    expect(
      violations(entries, ({ schema }, name) => {
        expect(validator(schema)(read(name))).toEqual({ ok: true, value: read(name) });
      }),
    ).toEqual([]);
  });

  it("equals the registry's example on disk", () => {
    expect(
      violations(entries, ({ example }, name) => {
        expect(read(name)).toEqual(JSON.parse(JSON.stringify(example)));
      }),
    ).toEqual([]);
  });

  it("equals the decoder's result on the receiving side", () => {
    expect(
      violations(decoded, ({ decode }, name) => {
        expect(decode?.(JSON.stringify(read(name)))).toEqual(read(name));
      }),
    ).toEqual([]);
  });

  it('keeps unknown fields through its decoder', () => {
    const objects = decoded.filter(([name]) => typeof read(name) === 'object');
    expect(
      violations(objects, ({ decode }, name) => {
        const grown = { ...(read(name) as object), x_from_the_future: { deep: [1, 'two', null] } };
        expect(decode?.(JSON.stringify(grown))).toEqual(grown);
      }),
    ).toEqual([]);
  });
});
