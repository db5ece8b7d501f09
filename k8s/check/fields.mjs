// Is every field known, of the right type, and none missing? Asked of the field tables of Kubernetes 1.36 that
// @kubernetes/client-node carries, and for custom kinds of the tables in custom-kinds.mjs. Knows no policy of ours.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { customKinds } from './custom-kinds.mjs';

const generated = dirname(dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node')));
const models = join(generated, 'dist/gen/models');
const apis = join(generated, 'dist/gen/apis');

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const show = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 60);

/** `networking.k8s.io/v1` → `NetworkingV1Api`, `v1` → `CoreV1Api`. */
function apiOf(apiVersion) {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  const name = group
    .replace(/\.k8s\.io$/, '')
    .split('.')
    .map(capital)
    .join('');
  return { api: `${name}${capital(version)}Api`, version: capital(version) };
}

/** The class of a built-in kind; undefined when this version of Kubernetes does not serve it. */
function modelOf(apiVersion, kind) {
  const { api, version } = apiOf(apiVersion);
  const file = join(apis, `${api}.js`);
  if (!existsSync(file) || !existsSync(join(models, `${version}${kind}.js`))) return undefined;
  return new RegExp(`\\bcreate(Namespaced)?${kind}\\(`).test(readFileSync(file, 'utf8'))
    ? `${version}${kind}`
    : undefined;
}

async function tableOf(type) {
  const module = await import(pathToFileURL(join(models, `${type}.js`)));
  const declaration = readFileSync(join(models, `${type}.d.ts`), 'utf8');
  const required = [...declaration.matchAll(/^ {4}'([^']+)': /gm)].map(([, name]) => name);
  return { fields: module[type].attributeTypeMap, required };
}

const scalars = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  IntOrString: (value) => typeof value === 'string' || Number.isInteger(value),
  Date: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  V1MicroTime: (value) => typeof value === 'string',
};

/** Quantities are numbers or texts such as 250m and 64Mi; the tables call them texts. */
const quantity = /^[+-]?\d+(\.\d+)?([numkMGTPE]|[KMGTPE]i|e\d+)?$/;

async function walk(value, type, format, path, report) {
  if (type === 'any' || type === 'object') return;
  const list = /^(?:Array|Set)<(.*)>$/.exec(type);
  if (list) {
    if (!Array.isArray(value)) return void report(`${path} must be a list, is ${show(value)}`);
    for (const [index, item] of value.entries()) await walk(item, list[1], format, `${path}[${index}]`, report);
    return;
  }
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map) {
    if (!isRecord(value)) return void report(`${path} must be a map, is ${show(value)}`);
    for (const [key, item] of Object.entries(value)) {
      if (/\.(limits|requests|capacity|hard)$/.test(path)) {
        if (!quantity.test(String(item))) report(`${path}.${key} is no quantity: ${show(item)}`);
      } else await walk(item, map[1], format, `${path}.${key}`, report);
    }
    return;
  }
  if (type in scalars) {
    if (!scalars[type](value)) report(`${path} must be ${type}, is ${show(value)}`);
    else if (/^int(32|64)$/.test(format) && !Number.isInteger(value)) report(`${path} must be a whole number`);
    return;
  }
  if (!isRecord(value)) return void report(`${path} must be an object (${type}), is ${show(value)}`);
  const { fields, required } = await tableOf(type);
  for (const name of required) {
    const field = fields.find((candidate) => candidate.name === name);
    if (field && value[field.baseName] === undefined) report(`${path}.${field.baseName} is missing`);
  }
  for (const [key, item] of Object.entries(value)) {
    const field = fields.find(({ baseName }) => baseName === key);
    if (!field) report(`${path}.${key} is not a field of ${type}`);
    else if (item === null) report(`${path}.${key} is empty`);
    else await walk(item, field.type, field.format, `${path}.${key}`, report);
  }
}

/** Custom kinds: a table is a type name, a list of allowed words, `[table]`, or an object; `!` ends a required name, `*` is any. */
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
export async function fieldProblems(objects) {
  const problems = [];
  for (const object of objects) {
    const report = (text) => problems.push(`${titleOf(object)}: ${text}`);
    const { apiVersion, kind } = object ?? {};
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
      report('apiVersion or kind is missing');
      continue;
    }
    if (typeof object.metadata?.name !== 'string') report('metadata.name is missing');
    const model = modelOf(apiVersion, kind);
    const custom = customKinds[`${apiVersion} ${kind}`];
    if (model) await walk(object, model, '', kind, report);
    else if (custom) {
      const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
      await walk(metadata ?? {}, 'V1ObjectMeta', '', `${kind}.metadata`, report);
      walkCustom(rest, custom, kind, report);
    } else report(`${apiVersion} ${kind} is served neither by Kubernetes 1.36 nor by an extension that is known here`);
  }
  return problems;
}
