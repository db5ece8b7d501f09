import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { versionOf } from '../src/instance/program.ts';

describe('the version of a program', () => {
  let folder: string;
  let program: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-version-'));
    mkdirSync(join(folder, 'dist'));
    program = pathToFileURL(join(folder, 'dist/program.cjs')).href;
    writeFileSync(join(folder, 'package.json'), '{"version":"1.4.2"}');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('K8: is that of the release, and of a development build a pre-release of the next one with its commit', () => {
    expect(versionOf(program)).toBe('1.4.2');
    writeFileSync(join(folder, 'dist/build.json'), '{"commit":"0123abcde"}');
    expect(versionOf(program)).toBe('1.5.0-dev.0123abcde');
    writeFileSync(join(folder, 'dist/build.json'), '{}');
    expect(versionOf(program)).toBe('1.4.2');
  });
});
