import { describe, expect, it } from '@jest/globals';
import type { Message } from '@relay/protocol';
import { wordsToRepeat } from '../src/conversation/use-retry.ts';

const message = (content: string, more: Partial<Message> = {}): Message => ({
  ...{ uuid: content, role: 'USER', content, timestamp: '2026-11-20T10:00:00.000Z' },
  ...more,
});
const said = message('Delete the build folder', { part: { kind: 'user' } });
const none: ReadonlySet<string> = new Set();

describe('the text of a retry after an error', () => {
  it('is the newest one of the person', () => {
    expect(wordsToRepeat([message('Before'), said, message('May I?', { role: 'AGENT' })], none)).toBe(said.content);
    expect(wordsToRepeat([], none)).toBeUndefined();
  });

  it('is neither an answer, according to its item, nor one of the shown choices', () => {
    const answer = message('Allow', { part: { kind: 'user', answers: 'question' } });
    expect(wordsToRepeat([said, answer], none)).toBe(said.content);
    expect(wordsToRepeat([message('Delete it'), message('Allow')], new Set(['Allow', 'Reject']))).toBe('Delete it');
  });

  it('is missing if it is truncated or had images', () => {
    expect(wordsToRepeat([said, message('A long t', { truncated: true })], none)).toBeUndefined();
    const images = [{ data: 'image-1', mime: 'image/png', bytes: 68 }];
    expect(wordsToRepeat([said, message('Look', { part: { kind: 'user', images } })], none)).toBeUndefined();
  });
});
