/** The smallest daemons in examples/, against every rule for daemons. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Subject, daemonChecks, programSubject, runDaemonCheck } from '../src/conformance/index.ts';

const example = (path: string) => fileURLToPath(new URL(`../../../examples/${path}`, import.meta.url));

/** Debian's packages belong to Debian's Python, which need not be the first one in the PATH. */
function pythonWithWebsockets(): string {
  for (const python of ['python3', '/usr/bin/python3']) {
    if (spawnSync(python, ['-c', 'import websockets']).status === 0) return python;
  }
  throw new Error('No python3 has the package "websockets". On Debian: apt-get install python3-websockets');
}

function compiled(): string {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', example('minimal-daemon')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`examples/minimal-daemon does not compile:\n${stdout}`);
  return example('minimal-daemon/dist/daemon.js');
}

describe.each<[string, () => [program: string, args: string[]]]>([
  ['TypeScript', () => [process.execPath, [compiled()]]],
  ['Python', () => [pythonWithWebsockets(), [example('minimal-daemon-python/daemon.py')]]],
])('the minimal daemon in %s', (_language, command) => {
  let subject: Subject;
  let said = '';
  beforeAll(() => {
    const [program, args] = command();
    subject = programSubject(program, args, (text) => (said = `${said}${text}`.slice(-2000)));
  });

  it.each(daemonChecks.map((check) => [check.name, check] as const))('%s', async (_name, check) => {
    said = '';
    const { problem } = await runDaemonCheck(check, subject);
    expect({ problem, said: problem === undefined ? '' : said }).toEqual({ problem: undefined, said: '' });
  });
});
