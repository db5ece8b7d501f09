/** Checks the smallest daemons in examples/ with every rule for daemons. */
import { beforeAll, expect, it } from '@jest/globals';
import { type Need, describeWith, pythonWithWebsockets } from '@relay/testing/needs';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Subject, daemonChecks, programSubject, runDaemonCheck } from '../src/conformance/index.ts';

const example = (path: string) => fileURLToPath(new URL(`../../../examples/${path}`, import.meta.url));

function compiled(): string {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', example('minimal-daemon')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`examples/minimal-daemon does not compile:\n${stdout}`);
  return example('minimal-daemon/dist/daemon.js');
}

const languages: [language: string, needs: readonly Need[], command: () => [program: string, args: string[]]][] = [
  ['TypeScript', [], () => [process.execPath, [compiled()]]],
  ['Python', ['python3-websockets'], () => [pythonWithWebsockets()!, [example('minimal-daemon-python/daemon.py')]]],
];

for (const [language, needs, command] of languages)
  describeWith(needs, `the minimal daemon in ${language}`, () => {
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
