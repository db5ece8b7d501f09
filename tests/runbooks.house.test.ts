/** Runbooks at three in the morning: each page says what people see and when it is over, and its commands exist where they are run. */
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');

describe('the runbooks', () => {
  let pages: [name: string, text: string][];
  let situations: string;
  beforeAll(async () => {
    const names = (await readdir(join(root, 'docs/runbooks'))).filter((name) => name.startsWith('Relay'));
    pages = await Promise.all(
      names.map(async (name) => [name, await read(`docs/runbooks/${name}`)] as [string, string]),
    );
    situations = await read('docs/situations.md');
  });

  it('begin with the first five minutes, which are on one page', async () => {
    expect(await read('docs/runbooks/README.md')).toMatch(/\*\*The first five minutes\*\*[^]*\n1\. [^]*\n6\. /);
    const without = pages.filter(([, text]) => !text.includes('Begin with [the first five minutes](README.md).'));
    expect(without.map(([name]) => name)).toEqual([]);
  });

  it('each say what people see, and when it is over', () => {
    const without = (line: RegExp) => pages.filter(([, text]) => !line.test(text)).map(([name]) => name);
    expect(without(/^People see: \w.*\.$/m)).toEqual([]);
    expect(without(/^- It is over when /m)).toEqual([]);
  });

  it('cover the events that no alert begins, each with an end', () => {
    const sections = situations.split(/^## /m).slice(1);
    expect(sections.map((section) => section.split('\n')[0])).toEqual([
      'PostgreSQL fails over',
      'A drill of the restore',
      'A zone is lost',
      'Redis is full',
      'The certificate ends',
      'A secret leaked',
      'All daemons reconnect at once',
      'The disk of PostgreSQL is full',
    ]);
    const withoutEnd = sections.filter((section) => !/^- It is over when |^\d\. It is over when /m.test(section));
    expect(withoutEnd.map((section) => section.split('\n')[0])).toEqual(['A drill of the restore']);
  });

  it('ask the program of the image for commands that it has', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'apps/standalone/dist/admin.js'), '--help']); // prettier-ignore
    const commands = [...stdout.matchAll(/^ {2}([a-z-]+)\b/gm)].map(([, command]) => command);
    expect(commands.length).toBeGreaterThan(10);
    const texts = [...pages.map(([, text]) => text), situations, await read('docs/runbooks/README.md'), await read('docs/operations.md')]; // prettier-ignore
    const asked = texts.flatMap((text) =>
      [...text.matchAll(/(?:relay admin|relay-admin|`admin|^admin) ([a-z][a-z-]*)/gm)].map(([, command]) => command),
    );
    expect(asked.length).toBeGreaterThan(20);
    expect([...new Set(asked)].filter((command) => !commands.includes(command))).toEqual([]);
  });

  it('need no program that the image and the machine of the operator lack', () => {
    // redis-cli is on neither, and its page says from where.
    const elsewhere = /^From a machine that reaches Redis[^]*?```sh\n[^]*?```/m;
    const lines = pages.flatMap(([name, text]) =>
      [...text.replace(elsewhere, '').matchAll(/```sh\n([^]*?)```/g)].flatMap(
        ([, block = '']) =>
        block.trim().split('\n').map((line) => `${name}: ${line}`), // prettier-ignore
      ),
    );
    expect(lines.length).toBeGreaterThan(40);
    // In a pod there is node and the relay; kubectl and curl are on the machine of the operator.
    expect(lines.filter((line) => !/: (?:kubectl|curl) /.test(line))).toEqual([]);
    const inPods = lines.filter((line) => line.includes('kubectl exec'));
    expect(inPods.filter((line) => !/ -- (?:relay admin |node |cat |sh -c )/.test(line))).toEqual([]);
  });
});
