/**
 * The image: the properties of the Dockerfile and the program inside. Building it takes minutes and an engine; these
 * tests need neither.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { validate } from 'dockerfile-utils';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFile(join(root, file), 'utf8');

/** One line per instruction, without comments and continuations. */
const instructionsOf = (text: string) =>
  text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');

describe('the Dockerfile', () => {
  let text: string;
  let final: string[];

  beforeAll(async () => {
    text = await read('Dockerfile');
    const instructions = instructionsOf(text);
    final = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM ')));
  });

  const problemsOf = (dockerfile: string) => validate(dockerfile).map(({ message }) => message);

  it('is well-formed, and the validator finds mistakes', () => {
    expect(problemsOf(text)).toEqual([]);
    expect(problemsOf(text.replace('WORKDIR /app', 'WORKDIR'))).not.toEqual([]);
    expect(problemsOf(text.replace('USER 10001:10001', 'USR 10001'))).not.toEqual([]);
  });

  it('S7: uses Node 24, and CI tests 20, 22 and 24, the oldest supported release included', async () => {
    expect(text).toMatch(/^ARG BASE_IMAGE=docker\.io\/library\/node:24\./m);
    const workflow = await read('.github/workflows/check.yml');
    expect(workflow).toMatch(/^ +node: \[22, 24\]$/m);
    const { engines } = JSON.parse(await read('package.json')) as { engines: { node: string } };
    expect(engines.node).toBe('>=20.19');
    expect(workflow).toContain('container: node:20-');
  });

  it('takes its base as an argument, and every stage builds on it or on another stage', () => {
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(bases).toEqual(['${BASE_IMAGE}', 'ground', 'ground']);
    expect(text).toMatch(/^ARG BASE_IMAGE=\S+:[\w.-]+$/m);
    expect(text).not.toMatch(/:latest/);
  });

  it('runs as the user in the manifests, who owns none of its files', () => {
    expect(final.filter((line) => line.startsWith('USER '))).toEqual(['USER 10001:10001']);
    expect(final.filter((line) => line.startsWith('COPY ')).join()).not.toMatch(/--chown/);
  });

  it('starts the one program, which receives signals directly', () => {
    expect(final).toContain('ENTRYPOINT ["relay"]');
    expect(final).toContain('CMD ["standalone"]');
  });

  it('contains no build tools: it copies nothing but the built tree', () => {
    expect(final.filter((line) => line.startsWith('COPY '))).toEqual([
      'COPY --from=build /app /app',
      'COPY docker/relay /usr/local/bin/relay',
    ]);
    expect(text).toMatch(/--omit=dev --omit=peer --omit=optional/);
    expect(text).toMatch(/test ! -e node_modules\/prisma/);
  });

  it('describes itself with OCI labels', () => {
    const labels = [...(final.find((line) => line.startsWith('LABEL ')) ?? '').matchAll(/image\.(\w+)=/g)];
    expect(labels.map(([, name]) => name).sort()).toEqual(
      ['title', 'description', 'licenses', 'version', 'revision', 'created'].sort(),
    );
  });

  it('gets only listed files of the repository', async () => {
    const [first, ...rules] = (await read('.dockerignore')).split('\n').filter((line) => line && !line.startsWith('#'));
    expect(first).toBe('*');
    for (const secret of ['**/.env*', '**/data', '**/node_modules']) expect(rules).toContain(secret);
    expect(rules).not.toContain('!.git');
  });
});

describe('the program of the image', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-image-'));
    // Replaces tini and prints the command that it would run.
    await writeFile(join(folder, 'tini'), '#!/bin/sh\necho "$@"\n');
    await chmod(join(folder, 'tini'), 0o755);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const relay = (...words: string[]) =>
    promisify(execFile)('/bin/sh', [join(root, 'docker/relay'), ...words], {
      env: { PATH: `${folder}:/usr/bin:/bin` },
    });

  it.each([
    ['api', 'apps/api/dist/main.js'],
    ['gateway', 'apps/gateway/dist/main.js'],
    ['standalone', 'apps/standalone/dist/main.js'],
    ['migrate', 'packages/database/dist/migrate-cli.js'],
    ['admin', 'apps/standalone/dist/admin.js'],
  ])('runs %s under tini, from a file that the build creates', async (role, file) => {
    expect((await relay(role)).stdout).toBe(`-- node /app/${file}\n`);
    await expect(readFile(join(root, file))).resolves.toBeDefined();
  });

  it.each([
    ['Dockerfile', /^# One image, (\w+) commands: ([^(]*) \(docker\/relay\)/],
    ['docs/operations.md', /One image has (\w+) commands: ([^.]*)\./],
  ])('is documented in %s with all of its commands', async (file, description) => {
    const { stderr } = (await relay('none').catch((error: unknown) => error)) as { stderr: string };
    const commands = stderr.replace('usage: relay ', '').trim().split(' | ');
    const [, count, named = ''] = description.exec(await read(file)) ?? [];
    expect(named.replaceAll('`', '').split(', ')).toEqual(commands);
    expect(['none', 'one', 'two', 'three', 'four', 'five', 'six'].indexOf(count ?? '')).toBe(commands.length);
  });

  it('passes on further arguments', async () => {
    expect((await relay('api', '--help')).stdout).toMatch(/main\.js --help$/m);
  });

  it.each([[[]], [['bash']], [['../api']]])('refuses %j with the list of commands', async (words: string[]) => {
    await expect(relay(...words)).rejects.toMatchObject({
      code: 2,
      stderr: 'usage: relay api | gateway | standalone | migrate | admin\n',
    });
  });
});
