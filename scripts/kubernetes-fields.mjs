// Writes k8s/check/kubernetes-fields.json, the fields of every kind that Kubernetes serves, from the types of its
// client package. The package has 69 MB, so this installs it into a temporary folder. Run this for a new version of
// Kubernetes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const source = '@kubernetes/client-node@2.0.1';
const kubernetes = '1.36';

const target = fileURLToPath(new URL('../k8s/check/kubernetes-fields.json', import.meta.url));

/**
 * The type of each kind: `apps/v1 Deployment` has `V1Deployment`. The package has a method that creates a kind at its
 * path.
 */
function readKinds(generated) {
  const kinds = {};
  for (const file of readdirSync(join(generated, 'apis')).filter((name) => name.endsWith('Api.js'))) {
    const [, ...methods] = readFileSync(join(generated, 'apis', file), 'utf8').split(/\basync create(?:Namespaced)?/);
    for (const method of methods) {
      const [, kind] = /^(\w+)/.exec(method);
      const [, version] = /localVarPath = '\/apis?\/((?:[\w.-]+\/)?v\w+)\//.exec(method) ?? [];
      const [, type] = /serialize\(body, "(\w+)"/.exec(method) ?? [];
      if (version !== undefined && type?.endsWith(kind)) kinds[`${version} ${kind}`] = type;
    }
  }
  return kinds;
}

/** `Array<X>`, `Map<X>`, `integer`, a scalar, or the name of another type. */
const shortType = (type, format) =>
  /^int(32|64)$/.test(format) && type === 'number'
    ? 'integer'
    : type.replace(/^Set</, 'Array<').replace(/\{ \[key: string\]: (.*?); \}/g, 'Map<$1>');

/** The fields of a type: `name: type`; a required field has the suffix `!`. */
async function readFields(generated, type) {
  const file = join(generated, 'models', type);
  const { [type]: model } = await import(pathToFileURL(`${file}.js`));
  const required = [...readFileSync(`${file}.d.ts`, 'utf8').matchAll(/^ {4}'([^']+)': /gm)].map(([, name]) => name);
  return Object.fromEntries(
    model.attributeTypeMap.map(({ name, baseName, type: its, format }) => [
      `${baseName}${required.includes(name) ? '!' : ''}`,
      shortType(its, format),
    ]),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'kubernetes-fields-'));
try {
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, source]);
  const generated = join(folder, 'node_modules/@kubernetes/client-node/dist/gen');
  const kinds = readKinds(generated);
  const scalars = ['any', 'object', 'string', 'boolean', 'number', 'integer', 'IntOrString', 'Date', 'V1MicroTime'];
  const types = {};
  const add = async (type) => {
    const inner = type.replace(/^(?:(?:Array|Map)<)+|>+$/g, '');
    if (scalars.includes(inner) || inner in types) return;
    types[inner] = {};
    types[inner] = await readFields(generated, inner);
    for (const its of Object.values(types[inner])) await add(its);
  };
  for (const type of Object.values(kinds)) await add(type);
  const sorted = (record) =>
    Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const lines = Object.entries(sorted(types)).map(
    ([name, fields]) => `${JSON.stringify(name)}: ${JSON.stringify(fields)}`,
  );
  writeFileSync(
    target,
    `{"kubernetes": "${kubernetes}",\n"kinds": ${JSON.stringify(sorted(kinds), null, 0)},\n"types": {\n${lines.join(',\n')}\n}}\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
