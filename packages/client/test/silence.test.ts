import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { connect } from '../src/connection.ts';
import { createTokens } from '../src/token.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** An open connection whose replies a test controls. */
function openLine() {
  const sent: string[] = [];
  const line = { say: (_text: string) => {}, isOver: false, sent };
  const connection = connect({
    open: (_wish, events) => {
      line.say = (text) => events.onText(text);
      queueMicrotask(() => events.onOpen());
      return { send: (text) => void sent.push(text), close: () => events.onEnd(new Error('closed')) };
    },
    tokens: createTokens('token', undefined),
    grant: { token: 'token', expiresAt: undefined },
    url: 'ws://relay.example',
    ticket: () => Promise.resolve('ticket'),
    onOpen: () => {},
    onText: () => {},
    silenceMs: 30_000,
  });
  void connection.ended.then(() => (line.isOver = true));
  return line;
}

it('B8: a dead line without a close is detected within 45 s', async () => {
  const line = openLine();
  await jest.advanceTimersByTimeAsync(29_000);
  expect(line.sent).toEqual([]);
  await jest.advanceTimersByTimeAsync(16_000);
  expect(line.sent).toHaveLength(1);
  expect(line.isOver).toBe(true);
});

it('B8: a line that answers stays, and one with frames gets no ping', async () => {
  const line = openLine();
  for (let second = 0; second < 120; second += 20) {
    await jest.advanceTimersByTimeAsync(20_000);
    line.say('{"type":"sessions_changed"}');
  }
  expect(line.sent).toEqual([]);
  await jest.advanceTimersByTimeAsync(35_000);
  expect(line.sent).toEqual(['{"type":"auth","token":"token"}']);
  line.say('{"type":"auth_ok"}');
  await jest.advanceTimersByTimeAsync(20_000);
  expect(line.isOver).toBe(false);
});

it('B8: after a sleep of the machine, asks at once and waits three seconds', async () => {
  const line = openLine();
  await jest.advanceTimersByTimeAsync(10_000);
  line.say('{"type":"sessions_changed"}');
  jest.setSystemTime(Date.now() + 60_000);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(line.sent).toHaveLength(1);
  await jest.advanceTimersByTimeAsync(3_000);
  expect(line.isOver).toBe(true);
});
