import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { outputStream, tail } from '../src/output.ts';
import { firstLine, keepHead, keepTail } from '../src/bounds.ts';
import { fill } from '../src/scripted/placeholders.ts';
import { manualClock } from './clocks.ts';

const stream = () => {
  const clock = manualClock();
  const emitted: string[] = [];
  return { clock, emitted, output: outputStream((text) => emitted.push(text), clock) };
};
const chunksOf = (bytes: Buffer, sizes: number[]) => {
  const chunks: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
};

describe('the output of a program', () => {
  it('is joined for 250 ms and then emitted at once', () => {
    const { clock, emitted, output } = stream();
    const write = output.writer();
    write(Buffer.from('one '));
    clock.advance(249);
    write(Buffer.from('two'));
    expect(emitted).toEqual([]);
    clock.advance(1);
    expect(emitted).toEqual(['one two']);
    clock.advance(10_000);
    expect(emitted).toEqual(['one two']);
  });

  it('keeps only the last part of a flood, and reports the missing length', () => {
    const { clock, emitted, output } = stream();
    const write = output.writer();
    for (let index = 0; index < 100; index++) write(Buffer.alloc(64 * 1024, 'x'));
    write(Buffer.from('the end'));
    clock.advance(250);
    expect(emitted).toHaveLength(1);
    expect(emitted[0]).toMatch(/^\[… 6488071 characters left out\]\nx+the end$/);
  });

  it('emits nothing after a stop', () => {
    const { clock, emitted, output } = stream();
    output.writer()(Buffer.from('x'));
    output.stop();
    output.flush();
    clock.advance(1000);
    expect(emitted).toEqual([]);
  });

  it('has the same characters for any split of the bytes, on two streams at once', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
        (text, sizes) => {
          const { emitted, output } = stream();
          const [out, err] = [output.writer(), output.writer()];
          for (const chunk of chunksOf(Buffer.from(text), sizes)) out(chunk);
          err(Buffer.from([0xe2]));
          output.flush();
          expect(emitted.join('')).toBe(`${text}\ufffd`);
        },
      ),
    );
  });
});

describe('the tail of a stream', () => {
  it('has its last bytes, in whole characters, for any split of the bytes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        (raw, max, sizes) => {
          const bytes = Buffer.from(raw, 'utf8');
          const kept = tail(max);
          for (const chunk of chunksOf(bytes, sizes)) kept.push(chunk);
          expect(bytes.toString('utf8').endsWith(kept.text())).toBe(true);
          expect(Buffer.byteLength(kept.text())).toBeLessThanOrEqual(max);
          expect(Buffer.byteLength(kept.text())).toBeGreaterThan(Math.min(bytes.length, max) - 4);
        },
      ),
    );
  });
});

describe('a bounded text', () => {
  it('is the longest beginning or ending within the bytes that splits no character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 0, max: 80 }), (text, max) => {
        for (const kept of [keepHead(text, max), keepTail(text, max)]) {
          expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(max);
          expect(Buffer.byteLength(kept)).toBeGreaterThan(Math.min(Buffer.byteLength(text), max) - 4);
        }
        expect(text.startsWith(keepHead(text, max))).toBe(true);
        expect(text.endsWith(keepTail(text, max))).toBe(true);
      }),
    );
  });

  it('has a meaningful first line that is not too long', () => {
    expect(firstLine('\n  \r\n  hello \nworld', 80)).toBe('hello');
    expect(firstLine(' \n ', 80)).toBe('');
    expect(firstLine('😀'.repeat(100), 3)).toBe('😀😀😀');
  });
});

describe('placeholders', () => {
  it('are filled in once; unknown names stay', () => {
    expect(fill('{message} {session} {other} {}', { message: '{session}', session: 's' })).toBe(
      '{session} s {other} {}',
    );
    expect(fill('{constructor}', {})).toBe('{constructor}');
  });
});
