import { describe, expect, it } from '@jest/globals';
import type { Message } from '@relay/protocol';
import { merged, messagesKept, renewed, withMessage, withOlder } from '../src/conversation/messages.ts';

const message = (uuid: string, content = uuid, timestamp = '2026-11-20T10:00:00.000Z'): Message => ({
  uuid,
  role: 'AGENT',
  content,
  timestamp,
});

describe('messages of a conversation', () => {
  it('appear once, however often they come', () => {
    expect(withMessage([message('a'), message('b')], message('a'))).toHaveLength(2);
    expect(withOlder([message('a'), message('b')], [message('b'), message('c')]).map(({ uuid }) => uuid)).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('are the newest ones when there are too many', () => {
    const many = Array.from({ length: messagesKept }, (_, index) => message(String(index)));
    const kept = withMessage(many, message('newest'));
    expect(kept).toHaveLength(messagesKept);
    expect(kept.at(-1)?.uuid).toBe('newest');
  });

  it('that were asked for stay, whatever comes, also when the newest page is loaded again', () => {
    const many = Array.from({ length: messagesKept + 100 }, (_, index) => message(String(index)));
    const kept = withMessage(many, message('newest'), 101);
    expect([kept.length, kept[0]?.uuid]).toEqual([messagesKept + 101, '0']);
    const again = renewed(many.slice(0, 10), [message('8'), message('9'), message('10')], []);
    expect(again.map(({ uuid }) => uuid)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
    // Messages between the two are not known.
    expect(renewed(many.slice(0, 10), [message('50')], [])).toHaveLength(1);
  });

  it('that came live stand after a history that does not have them', () => {
    expect(merged([message('a')], [message('b')]).map(({ uuid }) => uuid)).toEqual(['a', 'b']);
  });

  it('that the history has under another uuid appear there only', () => {
    const live = message('live', 'Hello', '2026-11-20T10:00:00.000Z');
    const written = message('written', 'Hello', '2026-11-20T10:00:12.000Z');
    expect(merged([written], [live])).toEqual([written]);
  });

  const uuids = (messages: readonly Message[]) => messages.map(({ uuid }) => uuid);
  const at = (minute: number, uuid: string) => message(uuid, uuid, `2026-11-20T10:${minute}:00.000Z`);

  it('that are older than the page of history do not come after it', () => {
    const [a, b, c, d] = [message('a'), message('b'), message('c'), message('d')];
    expect(uuids(merged([b, c, d], [a, b, c]))).toEqual(['b', 'c', 'd']);
    expect(uuids(merged([at(20, 'x'), at(30, 'y')], [at(10, 'older'), at(40, 'newer')]))).toEqual(['x', 'y', 'newer']);
    expect(uuids(merged([at(20, 'x'), at(30, 'y')], [at(10, 'older'), at(30, 'y')]))).toEqual(['x', 'y']);
  });

  it('that wait for the machine stay where they were said', () => {
    const waiting = at(30, 'waiting');
    expect(uuids(merged([at(10, 'a'), at(20, 'b')], [at(20, 'b'), waiting]))).toEqual(['a', 'b', 'waiting']);
    expect(uuids(merged([at(10, 'a'), at(40, 'c')], [waiting, at(40, 'c')]))).toEqual(['a', 'waiting', 'c']);
    expect(uuids(merged([at(10, 'a'), at(40, 'c')], [at(10, 'a'), waiting, at(40, 'c')]))).toEqual([
      'a',
      'waiting',
      'c',
    ]);
  });

  it('are all there is when the history is empty', () => {
    expect(uuids(merged([], [at(10, 'a'), at(20, 'b')]))).toEqual(['a', 'b']);
  });

  it('said twice stay two', () => {
    const yes = (uuid: string, at: string) => message(uuid, 'Yes', `2026-11-20T10:0${at}:00.000Z`);
    expect(merged([yes('h1', '1')], [yes('l1', '1'), yes('l2', '5')]).map(({ uuid }) => uuid)).toEqual(['h1', 'l2']);
  });
});
