/**
 * Promise: the script waits until the migration Job completes or fails, and reports why it failed. A script plays
 * kubectl.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const script = fileURLToPath(new URL('../scripts/await-migration.sh', import.meta.url));

describe('scripts/await-migration.sh', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-await-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Each state is the answer to one look at the Job; the last one repeats. */
  const wait = (...states: string[]) => waitWith('echo "the log of $*"', ...states);
  const waitWith = (logs: string, ...states: string[]) => {
    const kubectl = join(folder, 'kubectl');
    const answers = states.map((state, n) => `${n === states.length - 1 ? '*' : n}) echo '${state}' ;;`).join('\n');
    writeFileSync(
      kubectl,
      `#!/bin/sh
if [ "$1" = logs ]; then ${logs}; exit; fi
n=$(cat ${folder}/looks 2>/dev/null || echo 0)
echo $((n + 1)) > ${folder}/looks
case $n in
${answers}
esac
`,
    );
    chmodSync(kubectl, 0o755);
    rmSync(join(folder, 'looks'), { force: true });
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const { status, stdout, stderr } = spawnSync('bash', [script, 'here'], { env, encoding: 'utf8' });
    return { status, stdout, stderr };
  };

  it('succeeds with the Job, and shows the last lines of its log', () => {
    expect(wait('', 'SuccessCriteriaMet Complete')).toEqual({
      status: 0,
      stdout: expect.stringContaining('--namespace here job/relay-migrate'),
      stderr: '',
    });
  });

  it('N1: reports success even if it cannot read the log of the Job', () => {
    expect(waitWith('exit 1', 'Complete')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('the migration is complete'),
    });
  });

  it('fails as soon as the Job has failed, with its log', () => {
    expect(wait('FailureTarget', 'FailureTarget Failed')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/the log of logs.*\n.*Nothing was deployed/),
    });
  });

  it('is in the manual instead of kubectl wait, which does not return for a failed Job', () => {
    const manual = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
    expect(manual).toContain('scripts/await-migration.sh relay');
    expect(manual).not.toMatch(/^kubectl wait .*condition=complete/m);
  });
});
