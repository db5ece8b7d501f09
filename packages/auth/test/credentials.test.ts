import { describe, expect, it } from '@jest/globals';
import { maxTokenLength, bearerFrom } from '../src/index.ts';

describe('the header Authorization', () => {
  it.each([
    ['Bearer abc.def-ghi_~+/', 'abc.def-ghi_~+/'],
    ['bearer abc', 'abc'],
    ['BEARER   abc==', 'abc=='],
  ])('gives the token of %j', (header, token) => {
    expect(bearerFrom(header)).toBe(token);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearerabc',
    'Basic abc',
    'abc',
    'Bearer a b',
    'Bearer a,b',
    'Bearer a\u00e4',
    'Bearer =a',
    ' Bearer a',
    'Bearer a ',
    'Bearer\ta',
    'Bearer a\n',
    'Bearer "a"',
  ])('gives nothing for %j', (header) => {
    expect(bearerFrom(header)).toBeUndefined();
  });

  it('gives nothing for a repeated one', () => {
    expect(bearerFrom(['Bearer a', 'Bearer b'])).toBeUndefined();
  });

  it('is read up to 16 KiB', () => {
    expect(bearerFrom(`Bearer ${'a'.repeat(maxTokenLength)}`)).toHaveLength(maxTokenLength);
    expect(bearerFrom(`Bearer ${'a'.repeat(maxTokenLength + 1)}`)).toBeUndefined();
    expect(bearerFrom(`Bearer ${' '.repeat(1_000_000)}a`)).toBeUndefined();
  });
});
