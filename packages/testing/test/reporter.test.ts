import { describe, expect, it } from '@jest/globals';
import { secondsLeft, skippedSuites, tableOf } from '../src/jest/reporter.ts';

const closing = (...tests: { fullName: string; status: string }[]) =>
  tableOf(skippedSuites({ testResults: [{ testFilePath: '/house/tests/a.test.ts', testResults: tests }] }, '/house'));

describe('M1: the closing table of a run', () => {
  it('names the suite, how many of its tests were skipped, the need of each and how it is met', () => {
    const table = closing(
      { fullName: 'a disk [needs root] fills', status: 'pending' },
      { fullName: 'a page [needs chromium] opens', status: 'pending' },
      { fullName: 'a sum is right', status: 'passed' },
    );
    expect(table).toMatch(/SKIPPED: 2 tests of 1 suites/);
    expect(table).toMatch(/tests\/a\.test\.ts +2 +chromium, root/);
    expect(table).toContain('sudo scripts/install-test-programs.sh');
    expect(table).toContain('run them as root');
  });

  it('omits root if only a program is missing, and is empty if all suites ran', () => {
    expect(closing({ fullName: 'a page [needs chromium] opens', status: 'pending' })).not.toContain('as root');
    expect(closing({ fullName: 'a page opens', status: 'passed' })).toBe('');
  });
});

describe('38: the estimate of the time left', () => {
  const sizes = new Map([
    ['large', 900],
    ['small', 100],
    ['tiny', 50],
  ]);

  it('comes from the last run, if it had each file', () => {
    const last = new Map([...sizes.keys()].map((file) => [file, 7]));
    expect(secondsLeft(1, new Set(['large']), last, sizes)).toBe(14);
  });

  it('comes from the sizes of the files otherwise', () => {
    expect(secondsLeft(18, new Set(['large']), new Map([['tiny', 7]]), sizes)).toBe(3);
  });
});
