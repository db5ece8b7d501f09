/** `npm run release` writes the number of a release into every file that contains it, and changes nothing else. */
import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { releaseFiles } from '../scripts/release.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const to = '987.65.4';

const release = (...words: string[]) =>
  spawnSync(process.execPath, ['scripts/release.mjs', ...words], { cwd: root, encoding: 'utf8' });

describe('npm run release', () => {
  it('writes the number into manifests, their dependencies on each other, the lock, the image, compose and the chart, and only there', async () => {
    const files = await releaseFiles(root, { to, date: '2027-01-15' });
    const manifests = [...files.keys()].filter((path) => path.endsWith('package.json'));
    expect(manifests).toEqual(expect.arrayContaining(['package.json', 'apps/standalone/package.json']));
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['package-lock.json', 'Dockerfile', 'compose.yaml', 'k8s/chart/Chart.yaml']),
    );
    for (const [path, text] of files) {
      if (path === 'CHANGELOG.md') continue;
      expect(text).toContain(to);
      expect(text.match(new RegExp(`"@relay/[^"]+": "(?!${to}).*`))).toBeNull();
      expect({ path, text: text.replaceAll(to, version) }).toEqual({ path, text: read(path) });
    }
  });

  it('adds the heading of the release above the unreleased changes', async () => {
    const changes = (await releaseFiles(root, { to, date: '2027-01-15' })).get('CHANGELOG.md');
    expect(changes?.replace(`\n## ${to} (2027-01-15)\n`, '')).toBe(read('CHANGELOG.md'));
    expect(changes).toMatch(new RegExp(`^## Unreleased\n\n## ${to} \\(2027-01-15\\)\n`, 'm'));
  });

  it('lists with --dry-run the files that it would write, and writes nothing', () => {
    const { status, stdout } = release(to, '--dry-run');
    expect(status).toBe(0);
    expect(stdout).toContain('would write apps/standalone/package.json\n');
    expect(JSON.parse(read('package.json'))).toMatchObject({ version });
  });

  it.each(['1.5', 'v987.65.4', '0.0.1', version])(
    'refuses a version that is not newer, or not a version: %s',
    (given) => {
      expect(release(given, '--dry-run')).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`"${given}" is no`),
      });
    },
  );
});
