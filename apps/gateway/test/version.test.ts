import { describe, expect, it } from '@jest/globals';
import { isOlder, versionStatus } from '../src/door/version.ts';

describe('isOlder', () => {
  it.each([
    ['1.2.3', '1.2.4'],
    ['1.2', '1.2.1'],
    ['1.9.0', '1.10.0'],
    ['v1.0.0', '2'],
    ['0.9.9-beta.1', '1.0.0'],
    [' 1.0.0 ', '1.0.1'],
    ['1.0.0+build.7', '1.0.1'],
  ])('%s is older than %s, and not the other way round', (older, newer) => {
    expect(isOlder(older, newer)).toBe(true);
    expect(isOlder(newer, older)).toBe(false);
  });

  it.each([
    ['1.2.0', '1.2'],
    ['1.2.0', 'v1.2.0'],
    ['1.2.0-rc.1', '1.2.0'],
    ['', '1.0.0'],
    ['nightly', '1.0.0'],
    ['1.0.0', 'nightly'],
  ])('%s is not older than %s', (version, than) => {
    expect(isOlder(version, than)).toBe(false);
  });

  it('no version is older than an unset one', () => {
    expect(isOlder('0.0.1', undefined)).toBe(false);
  });
});

describe('versionStatus', () => {
  it('names only the fields of the policy', () => {
    expect(versionStatus('1.0.0', {})).toEqual({ type: 'version_status', status: 'current', your_version: '1.0.0' });
    expect(versionStatus('1.0.0', { latest: '1.1.0' })).toEqual({
      type: 'version_status',
      status: 'update_available',
      your_version: '1.0.0',
      latest_version: '1.1.0',
    });
  });

  it('requires an update below the minimum, and names the version', () => {
    expect(versionStatus('0.9.0', { min: '1.0.0', latest: '1.0.0' })).toMatchObject({
      status: 'update_required',
      message: expect.stringContaining('1.0.0'),
    });
  });

  it('is satisfied with the newest of everything', () => {
    expect(versionStatus('2.0.0', { min: '1.0.0', recommended: '2.0.0', latest: '2.0.0' }).status).toBe('current');
  });
});
