// Asks the registry for known vulnerabilities in the shipped packages, like npm audit. Passes if the registry does not
// offer a list.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const patienceMs = 60_000;

/** Names and versions in the lock file that an installation without development dependencies contains. */
async function shipped() {
  const { packages } = JSON.parse(await readFile(`${root}package-lock.json`, 'utf8'));
  const versions = {};
  for (const [path, { version, dev, link, name }] of Object.entries(packages)) {
    const at = path.lastIndexOf('node_modules/');
    if (at < 0 || dev || link || version === undefined) continue;
    (versions[name ?? path.slice(at + 'node_modules/'.length)] ??= new Set()).add(version);
  }
  return Object.fromEntries(Object.entries(versions).map(([name, all]) => [name, [...all]]));
}

const registry = execFileSync('npm', ['config', 'get', 'registry'], { cwd: root, encoding: 'utf8' }).trim();

/** Advisories by package, or the reason why the registry did not send them. */
async function advisories(wanted) {
  const url = new URL('-/npm/v1/security/advisories/bulk', registry.endsWith('/') ? registry : `${registry}/`);
  const headers = { 'Content-Type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(wanted), signal: AbortSignal.timeout(patienceMs) };
  try {
    const answer = await fetch(url, init);
    return answer.ok ? { found: await answer.json() } : { why: `it answers ${answer.status}` };
  } catch (error) {
    return { why: error.cause?.code ?? error.message };
  }
}

const wanted = await shipped();
const { found, why } = await advisories(wanted);
if (!found) {
  console.log(`audit: ${registry} offers no list of known holes (${why}), so nothing was checked`);
  process.exit(0);
}
const serious = Object.entries(found).flatMap(([name, all]) =>
  all
    .filter(({ severity }) => severity === 'high' || severity === 'critical')
    .map((one) => `${one.severity}: ${name} ${one.vulnerable_versions}: ${one.title} (${one.url})`),
);
for (const line of serious) console.error(`audit: ${line}`);
if (serious.length === 0)
  console.log(`audit: no high or critical hole is known in ${Object.keys(wanted).length} packages`);
process.exit(serious.length === 0 ? 0 : 1);
