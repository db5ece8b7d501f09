import { describe, expect, it } from '@jest/globals';
import { skippedSuites, tableOf } from '../src/jest/reporter.ts';

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
