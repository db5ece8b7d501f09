import { describe, expect, it } from '@jest/globals';
import { type PublishedTurn, alreadyInResult, newTurn, withResult, withText } from '../src/turn.ts';

const windowMs = 30_000;

/** A listener: the texts shown for the reports of one session, in order. */
function shown(...reports: ({ text: string } | { result: string } | { afterMs: number })[]): string[] {
  const heard: string[] = [];
  let turn: PublishedTurn = newTurn();
  let now = 1_000_000;
  for (const report of reports) {
    if ('afterMs' in report) now += report.afterMs;
    else if ('text' in report) {
      const settled = alreadyInResult(turn, report.text, now, windowMs);
      if (!settled) heard.push(report.text);
      turn = settled ?? withText(turn, report.text, now, windowMs);
    } else {
      const { unpublished, turn: after } = withResult(turn, report.result, now, windowMs);
      if (unpublished !== '') heard.push(unpublished);
      turn = after;
    }
  }
  return heard;
}
const texts = (...all: string[]) => all.map((text) => ({ text }));

describe('one turn, reported twice', () => {
  it('F2: shows each text once when the result is all of them', () => {
    expect(shown(...texts('A', 'B', 'C'), { result: 'A\n\nB\n\nC' })).toEqual(['A', 'B', 'C']);
    expect(shown(...texts('A', 'B'), { result: 'A\n\nB\n\nC' }, ...texts('C'))).toEqual(['A', 'B', 'C']);
    expect(shown({ result: 'A\n\nB\n\nC' }, ...texts('A', 'B', 'C'))).toEqual(['A\n\nB\n\nC']);
    expect(shown(...texts('A'), { result: 'A\n\nB\n\nC' }, ...texts('B', 'C'))).toEqual(['A', 'B\n\nC']);
  });

  it('F2: shows each text once when the result is the last of them', () => {
    expect(shown(...texts('A', 'B', 'C'), { result: 'C\n' })).toEqual(['A', 'B', 'C']);
    expect(shown(...texts('A', 'B'), { result: 'C' }, ...texts('C'))).toEqual(['A', 'B', 'C']);
  });

  it('F2: recognises texts of several paragraphs, and trailing white space', () => {
    const long = 'first\n\nsecond  \n\n\nthird';
    expect(shown(...texts(`${long}\n`, 'C'), { result: `${long}\n\nC\n` })).toEqual([`${long}\n`, 'C']);
    expect(shown({ result: `A\n\n${long}` }, ...texts(long))).toEqual([`A\n\n${long}`]);
    expect(shown({ result: `A\n\n${long}` }, ...texts(`A\n\n${long}\n`))).toEqual([`A\n\n${long}`]);
  });

  it('F2c: shows the results of two turns, in any order of the reports', () => {
    expect(shown({ result: 'Done.' }, { result: 'Done.' })).toEqual(['Done.', 'Done.']);
    expect(shown(...texts('Done.'), { result: 'Done.' }, ...texts('Done.'), { result: 'Done.' })).toHaveLength(2);
    expect(shown({ result: 'Done.' }, ...texts('Done.'), { result: 'Done.' }, ...texts('Done.'))).toHaveLength(2);
    expect(shown({ result: 'Done.' }, { result: 'Done.' }, ...texts('Done.', 'Done.'))).toHaveLength(2);
    expect(shown(...texts('Done.'), { result: 'Done.' }, { result: 'Done.' }, ...texts('Done.'))).toHaveLength(2);
  });

  it('shows a repeated text of one turn twice', () => {
    expect(shown(...texts('ok', 'ok'), { result: 'ok\n\nok' })).toEqual(['ok', 'ok']);
    expect(shown({ result: 'ok' }, ...texts('ok', 'ok'))).toEqual(['ok', 'ok']);
  });

  it('shows a result whole that only begins like a text', () => {
    expect(shown(...texts('A\n\nold'), { result: 'A\n\nnew' })).toEqual(['A\n\nold', 'A\n\nnew']);
    expect(shown(...texts('A'), { result: 'B' })).toEqual(['A', 'B']);
  });

  it('takes a text for another message when the result is older than the window', () => {
    expect(shown({ result: 'Done.' }, { afterMs: windowMs }, ...texts('Done.'))).toEqual(['Done.', 'Done.']);
    expect(shown(...texts('Done.'), { afterMs: 10 * windowMs }, { result: 'Done.' })).toEqual(['Done.']);
  });

  it('remembers within bounds, and stores no text', () => {
    let turn = newTurn();
    for (let n = 0; n < 1_000; n += 1) turn = withText(turn, `secret ${n}\n\n`.repeat(n), n, windowMs);
    for (let n = 0; n < 100; n += 1) ({ turn } = withResult(turn, `secret ${n}\n\n`.repeat(1_000), n, windowMs));
    expect(JSON.stringify(turn).length).toBeLessThan(100_000);
    expect(JSON.stringify(turn)).not.toContain('secret');
    const many = 'paragraph\n\n'.repeat(10_000);
    expect(shown({ text: many }, { text: 'B' }, { result: `${many}B` })).toEqual([many, 'B']);
    expect(shown({ result: many }, { text: many })).toEqual([many]);
  });
});
