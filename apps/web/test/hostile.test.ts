/** Costly texts: each becomes few elements, and parsing a long text stops at its budget. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Token } from 'marked';
import { blocksOf, loadMend } from '../src/transcript/markdown/blocks.ts';
import { budget, inlineCost, isCostly, mostPieces } from '../src/transcript/markdown/cost.ts';
import { piecesOf } from '../src/transcript/markdown/markdown.tsx';
import { bombs } from './bombs.ts';

beforeAll(loadMend);

/** All tokens, including those of lists and cells. */
function count(tokens: readonly Token[]): number {
  let sum = 0;
  const waiting: unknown[] = [...tokens];
  while (waiting.length > 0) {
    const token = waiting.pop() as Record<string, unknown>;
    sum += 1;
    for (const name of ['tokens', 'items', 'header', 'rows'])
      if (Array.isArray(token[name])) waiting.push(...(token[name] as unknown[]).flat());
  }
  return sum;
}

describe('a costly text', () => {
  it.each(Object.entries(bombs))('becomes few elements, and keeps its text: %s', (_name, text) => {
    for (const open of [false, true]) {
      const { tokens } = blocksOf(text, open);
      expect(count(tokens)).toBeLessThanOrEqual(4 * mostPieces);
    }
    const { tokens } = blocksOf(text, false);
    expect(tokens.map(({ raw }) => raw).join('')).toHaveLength(text.length);
  });

  it('is detected by its cost, which ordinary text never reaches', () => {
    const ordinary =
      '## A step\n\nIt **works** with `code`, [a link](https://example.com) and *more*.\n\n- one\n  - two\n\n```ts\n        const deep = 1;\n```\n\n'.repeat(
        450,
      );
    expect(ordinary.length).toBeGreaterThan(50_000);
    expect(isCostly(ordinary)).toBe(false);
    expect(inlineCost('It **works** with `code`. '.repeat(50))).toBeLessThan(budget.inline / 100);
    expect(isCostly('- '.repeat(10_000))).toBe(true);
    expect(isCostly('> '.repeat(10_000))).toBe(true);
    expect(inlineCost('_a'.repeat(50_000))).toBeGreaterThan(budget.inline);
    expect(inlineCost('a.'.repeat(50_000))).toBeGreaterThan(budget.inline);
  });

  it('is shown in pieces without losing a character', () => {
    for (const text of [
      '',
      'a',
      'x'.repeat(100_000),
      'line\n'.repeat(10_000),
      `${'x'.repeat(9000)}\n${'y'.repeat(9000)}`,
    ]) {
      const pieces = piecesOf(text);
      expect(pieces.join('')).toBe(text);
      expect(pieces.every((piece) => piece.length > 0 && piece.length <= 4097)).toBe(true);
    }
  });
});
