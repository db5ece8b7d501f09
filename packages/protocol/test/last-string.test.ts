import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lastString } from '../src/index.ts';

const key = 'output';
const nameLike = fc.constantFrom(
  'output',
  '"output":',
  '\\"output":"',
  'x"output":"',
  '"}',
  '\\',
  'a\nb "c" \\',
  'ł🐢',
  '',
);
const text = fc.oneof(nameLike, fc.string(), fc.string({ unit: 'binary' }));
const member = fc.tuple(fc.oneof(fc.constantFrom('output', 'x"output', 'a', 'b'), text), fc.anything());

describe('the last string of an object', () => {
  it('is found verbatim, for any content', () => {
    for (const said of [
      '',
      'hello',
      'a "quoted" word',
      'two\nlines\\',
      '\\"output":"',
      '}"}',
      'ł🐢',
      'x'.repeat(5_000),
    ]) {
      const plain = JSON.stringify({ type: 'event', note: '"output":"', [key]: said });
      expect(lastString(plain, key)).toBe(JSON.stringify(said));
      expect(lastString(plain.replaceAll('":', '": '), key)).toBe(JSON.stringify(said).replaceAll('":', '": '));
    }
  });

  it('is not taken for another one', () => {
    for (const json of [
      '{"output":"a","b":"c"}',
      '{"output":"a","output":"b"}',
      '{"x":{"output":"a"},"b":"c"}',
      '{"x":{"output":"a"}}',
      '{"x\\"output":"a"}',
      '{"output":1,"b":"c"}',
      '{"output":"a\\u0000"}',
      '{"output":"a" }',
      '["output","a"]',
      '{}',
    ])
      expect(lastString(json, key)).toBeUndefined();
  });

  it('agrees with the parser, in any object', () => {
    fc.assert(
      fc.property(fc.array(member), text, (members, said) => {
        const json = JSON.stringify({ ...Object.fromEntries(members), [key]: said });
        const found = lastString(json, key);
        if (found !== undefined) expect(JSON.parse(found)).toBe((JSON.parse(json) as Record<string, unknown>)[key]);
      }),
    );
  });

  it('means the same when a member of that name lies deeper or elsewhere', () => {
    fc.assert(
      fc.property(fc.array(member), text, text, (members, inner, last) => {
        const json = JSON.stringify({ a: { [key]: inner }, ...Object.fromEntries(members), z: last });
        const found = lastString(json, key);
        if (found !== undefined) expect(JSON.parse(found)).toBe((JSON.parse(json) as Record<string, unknown>)[key]);
      }),
    );
  });
});
