import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { safeUrl } from '../src/safe-url.ts';

describe('an address that is logged', () => {
  it.each([
    ['/ws/attention?ticket=abc', '/ws/attention?ticket=[redacted]'],
    ['/ws/attention?access_token=abc&since=5', '/ws/attention?access_token=[redacted]&since=5'],
    ['/ws/attention?since=5&token=abc#x', '/ws/attention?since=5&token=[redacted]#x'],
    ['/cb?code=abc&state=def', '/cb?code=[redacted]&state=[redacted]'],
    ['/device?user_code=BCDF-GHJK', '/device?user_code=[redacted]'],
    ['/device#access_token=abc', '/device#access_token=[redacted]'],
    ['https://a:b@example.com/x?y=z', 'https://[redacted]@example.com/x?y=z'],
    ['/api/devices/code/BCDF-GHJK/approve', '/api/devices/code/[redacted]/approve'],
    ['/api/devices/code', '/api/devices/code'],
    ['/api/sessions?limit=5&cursor=a', '/api/sessions?limit=5&cursor=a'],
    ['/api/sessions?token', '/api/sessions?token'],
    ['', ''],
  ])('%j is %j', (url, expected) => {
    expect(safeUrl(url)).toBe(expected);
  });

  it('hides a credential however its parameter is written', () => {
    const names = [
      'token',
      'TOKEN',
      '%74oken',
      'to%6ben',
      'token[]',
      'token[a]',
      '+token',
      'Access_Token',
      'ticket%20',
    ];
    for (const name of names) {
      for (const url of [
        `/x?${name}=hunter2`,
        `/x?a=b&${name}=hunter2&c`,
        `/x?a;${name}=hunter2`,
        `/x??${name}=hunter2`,
      ]) {
        expect(safeUrl(url)).not.toContain('hunter2');
      }
    }
  });

  it('never contains the value of a credential, in any context', () => {
    const name = fc.constantFrom('access_token', 'token', 'ticket', 'code', 'user_code');
    const other = fc.webQueryParameters();
    fc.assert(
      fc.property(fc.webPath(), other, name, other, (path, before, credential, after) => {
        expect(safeUrl(`${path}?${before}&${credential}=S3cr3tS3cr3t&${after}`)).not.toContain('S3cr3t');
      }),
    );
  });

  it('is any text, and bounded', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(typeof safeUrl(text)).toBe('string')));
    expect(safeUrl('/%E0%A4%A?%E0%A4%A=1')).toBe('/%E0%A4%A?%E0%A4%A=1');
    expect(safeUrl(`/${'x'.repeat(1_000_000)}`).length).toBeLessThan(2_100);
  });
});
