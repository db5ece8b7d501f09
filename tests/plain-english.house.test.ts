/**
 * The word check finds the words in the last table of the glossary, in code and in documents, and accepts questions.
 */
import { describe, expect, it } from '@jest/globals';
import { wordProblems } from '../scripts/check-words.mjs';

const found = (path: string, text: string) => wordProblems(path, text).map(({ line, words }) => `${line}: ${words}`);

describe('the check of words', () => {
  it('reports a private word in code, comments and documents, with its line', () => {
    expect(found('a.ts', "const a = 1;\nconst b = 'Nobody is there';")).toEqual(['2: Nobody']);
    expect(found('a.md', 'The socket is not open any more.')).toEqual(['1: any more']);
  });

  it('reports a sentence of a comment that begins without its noun', () => {
    expect(found('a.ts', '/** What a handler threw. */')).toEqual(['1: What a handler threw']);
    expect(found('a.ts', '// Frames wait. Those of a slow peer are dropped.')).toEqual([
      '1: Those of a slow peer are dropped',
    ]);
  });

  it('accepts a question, a heading, a line that goes on, and a string', () => {
    expect(found('a.ts', '// What does it cost?')).toEqual([]);
    expect(found('a.md', '## What it costs')).toEqual([]);
    expect(found('a.ts', '/**\n * It says\n * What was asked for.\n */')).toEqual([]);
    expect(found('a.ts', "ask('What a day');")).toEqual([]);
  });

  it('accepts the glossary, which names the words', () => {
    expect(found('docs/glossary.md', 'nobody, somebody, whoever')).toEqual([]);
  });
});
