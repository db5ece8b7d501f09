import { describe, expect, it } from '@jest/globals';
import { RelayError } from '@relay/protocol';
import fc from 'fast-check';
import { decodeCursor, encodeCursor } from '../../src/http/cursor.ts';

const time = fc.date({
  min: new Date('0001-01-01T00:00:00.000Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});
const id = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0'));

const outcome = (cursor: string) => {
  try {
    return decodeCursor(cursor);
  } catch (error) {
    return error;
  }
};

describe('a cursor', () => {
  it('decodes to its original values, and needs no encoding in a URL', () => {
    fc.assert(
      fc.property(time, id, (at, key) => {
        const cursor = encodeCursor(at.toISOString(), key);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(decodeCursor(cursor)).toEqual({ at, id: key });
      }),
    );
  });

  it('is refused without side effects if it is forged', () => {
    const madeUp = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc.tuple(fc.jsonValue(), fc.jsonValue()).map((pair) => Buffer.from(JSON.stringify(pair)).toString('base64url')),
    );
    fc.assert(
      fc.property(madeUp, (cursor) => {
        expect(outcome(cursor)).toBeInstanceOf(RelayError);
        expect(outcome(cursor)).toMatchObject({ code: 'INVALID_REQUEST' });
      }),
    );
  });

  it.each([
    ['a time without a zone', ['2026-01-01T00:00:00.000', 'x']],
    ['a time that PostgreSQL does not have', ['-271821-04-20T00:00:00.000Z', 'x']],
    ['the year 0', ['0000-01-01T00:00:00.000Z', 'x']],
    ['a time after the year 9999', ['+010000-01-01T00:00:00.000Z', 'x']],
    ['U+0000 in the id', ['2026-01-01T00:00:00.000Z', 'a\0b']],
    ['a third part', ['2026-01-01T00:00:00.000Z', 'x', 'y']],
  ])('with %s is refused', (_what, value) => {
    expect(outcome(Buffer.from(JSON.stringify(value)).toString('base64url'))).toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });
});
