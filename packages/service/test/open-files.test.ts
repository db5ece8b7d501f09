import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openFilesLimit, openFilesWarning } from '../src/open-files.ts';

describe('the limit of open files', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-limits-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const limits = (soft: string) => {
    const file = join(folder, 'limits');
    writeFileSync(
      file,
      `Limit                     Soft Limit           Hard Limit           Units\nMax processes             7                    7                    processes\nMax open files            ${soft.padEnd(20)} 1048576              files\n`,
    );
    return file;
  };

  it('is the soft limit of the kernel', () => {
    expect(openFilesLimit(limits('1024'))).toBe(1024);
    expect(openFilesLimit(limits('unlimited'))).toBe(Number.POSITIVE_INFINITY);
  });

  it('is unknown if the file is missing or empty', () => {
    expect(openFilesLimit(join(folder, 'none'))).toBeUndefined();
    expect(openFilesLimit(limits('?'))).toBeUndefined();
  });

  it('of this process is a number on Linux', () => {
    expect(openFilesLimit() ?? 1).toBeGreaterThan(0);
  });

  it('causes a warning when it is small, with the number and advice', () => {
    expect(openFilesWarning(1024)).toMatch(/Only 1024 files.*ulimit -n.*10000/);
  });

  it.each([[10_000], [Number.POSITIVE_INFINITY], [undefined]])('of %s is worth no word', (limit) => {
    expect(openFilesWarning(limit)).toBeUndefined();
  });
});
