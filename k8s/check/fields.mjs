// Checks that every field is known, has the right type, and that required fields are present. Uses the tables of
// Kubernetes in kubernetes-fields.json, written by scripts/kubernetes-fields.mjs, and for custom kinds the tables in
// custom-kinds.mjs. Contains no policy of ours.
import { readFileSync } from 'node:fs';
import { customKinds } from './custom-kinds.mjs';

const { kubernetes, kinds, types } = JSON.parse(
  readFileSync(new URL('kubernetes-fields.json', import.meta.url), 'utf8'),
);

const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const show = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 60);

const scalars = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  IntOrString: (value) => typeof value === 'string' || Number.isInteger(value),
  Date: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  V1MicroTime: (value) => typeof value === 'string',
};

/** Quantities are numbers or texts such as 250m and 64Mi; the tables call them texts. */
const quantity = /^[+-]?\d+(\.\d+)?([numkMGTPE]|[KMGTPE]i|e\d+)?$/;

function walk(value, type, path, report) {
  if (type === 'any' || type === 'object') return;
  const [, holder, inner] = /^(Array|Map)<(.*)>$/.exec(type) ?? [];
  if (holder === 'Array') {
    if (!Array.isArray(value)) return void report(`${path} must be a list, is ${show(value)}`);
    for (const [index, item] of value.entries()) walk(item, inner, `${path}[${index}]`, report);
    return;
  }
  if (holder === 'Map') {
    if (!isRecord(value)) return void report(`${path} must be a map, is ${show(value)}`);
    for (const [key, item] of Object.entries(value)) {
      if (/\.(limits|requests|capacity|hard)$/.test(path)) {
        if (!quantity.test(String(item))) report(`${path}.${key} is no quantity: ${show(item)}`);
      } else walk(item, inner, `${path}.${key}`, report);
    }
    return;
  }
  if (type in scalars) {
    if (!scalars[type](value)) report(`${path} must be ${type}, is ${show(value)}`);
    return;
  }
  if (!isRecord(value)) return void report(`${path} must be an object (${type}), is ${show(value)}`);
  const fields = types[type];
  for (const name of Object.keys(fields))
    if (name.endsWith('!') && value[name.slice(0, -1)] === undefined) report(`${path}.${name.slice(0, -1)} is missing`);
  for (const [key, item] of Object.entries(value)) {
    const field = fields[key] ?? fields[`${key}!`];
    if (!field) report(`${path}.${key} is not a field of ${type}`);
    else if (item === null) report(`${path}.${key} is empty`);
    else walk(item, field, `${path}.${key}`, report);
  }
}

/**
 * Custom kinds: a table is a type name, a list of allowed values, `[table]`, or an object; a trailing `!` marks a
 * required name, `*` matches any.
 */
function walkCustom(value, table, path, report) {
  if (typeof table === 'string') {
    const good = {
      string: typeof value === 'string',
      boolean: typeof value === 'boolean',
      integer: Number.isInteger(value),
      duration: typeof value === 'string' && /^(\d{1,5}(h|m|s|ms)){1,4}$/.test(value),
      any: true,
    }[table];
    if (!good) report(`${path} must be ${table}, is ${show(value)}`);
    return;
  }
  if (table instanceof Set) {
    if (!table.has(value)) report(`${path} must be one of ${[...table].join(', ')}, is ${show(value)}`);
    return;
  }
  if (Array.isArray(table)) {
    if (!Array.isArray(value)) return void report(`${path} must be a list, is ${show(value)}`);
    for (const [index, item] of value.entries()) walkCustom(item, table[0], `${path}[${index}]`, report);
    return;
  }
  if (!isRecord(value)) return void report(`${path} must be an object, is ${show(value)}`);
  for (const name of Object.keys(table))
    if (name.endsWith('!') && value[name.slice(0, -1)] === undefined) report(`${path}.${name.slice(0, -1)} is missing`);
  for (const [key, item] of Object.entries(value)) {
    const field = table[key] ?? table[`${key}!`] ?? table['*'];
    if (field === undefined) report(`${path}.${key} is not a known field`);
    else walkCustom(item, field, `${path}.${key}`, report);
  }
}

/** How an object is called in a message. */
export const titleOf = (object) => `${object?.kind ?? '?'}/${object?.metadata?.name ?? '?'}`;

/** Every problem with the fields of these objects, as sentences that begin with the object. */
export function fieldProblems(objects) {
  const problems = [];
  for (const object of objects) {
    const report = (text) => problems.push(`${titleOf(object)}: ${text}`);
    const { apiVersion, kind } = object ?? {};
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
      report('apiVersion or kind is missing');
      continue;
    }
    if (typeof object.metadata?.name !== 'string') report('metadata.name is missing');
    const type = kinds[`${apiVersion} ${kind}`];
    const custom = customKinds[`${apiVersion} ${kind}`];
    if (type) walk(object, type, kind, report);
    else if (custom) {
      const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
      walk(metadata ?? {}, 'V1ObjectMeta', `${kind}.metadata`, report);
      walkCustom(rest, custom, kind, report);
    } else
      report(
        `${apiVersion} ${kind} is served neither by Kubernetes ${kubernetes} nor by an extension that is known here`,
      );
  }
  return problems;
}
