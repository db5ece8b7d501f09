import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { RelayError } from '../src/errors.ts';
import { request } from '../src/request.ts';
import { createGetTicket } from '../src/ticket.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** The requests of a browser; the first `dead` ones use connections that never answer. */
function browser(dead: number, answer: () => Promise<string> = () => Promise.resolve('ticket')) {
  const state = { sent: 0, aborted: 0 };
  const send = async (_url: unknown, { signal }: RequestInit = {}) => {
    state.sent += 1;
    if (state.sent > dead) return Response.json(await answer());
    return new Promise<Response>((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        state.aborted += 1;
        reject(new Error('aborted'));
      });
    });
  };
  const get = createGetTicket(
    async (how) => (await request('http://relay.example', { ...how, fetch: send })).body as string,
  );
  return { state, get };
}

it('B8: gets a ticket within 3.1 s past five dead connections of the browser, and aborts them', async () => {
  const { state, get } = browser(5);
  const ticket = get(new AbortController().signal, true);
  await jest.advanceTimersByTimeAsync(3_100);
  expect(await ticket).toBe('ticket');
  expect(state).toEqual({ sent: 6, aborted: 5 });
  await jest.advanceTimersByTimeAsync(60_000);
  expect(state.sent).toBe(6);
});

it('B8: asks once without a sign of a dead connection', async () => {
  const { state, get } = browser(1);
  const attempt = new AbortController();
  const ticket = get(attempt.signal, false);
  await jest.advanceTimersByTimeAsync(10_000);
  expect(state.sent).toBe(1);
  // The attempt to open the line is over: its request must not keep a connection.
  attempt.abort(new Error('too late'));
  await expect(ticket).rejects.toThrow('too late');
  expect(state.aborted).toBe(1);
});

it('B8: does not ask again after a refusal', async () => {
  const refused = new RelayError({
    code: 'FORBIDDEN',
    message: 'no',
    status: 403,
    retryAfter: undefined,
    details: {},
    headers: new Headers(),
  });
  const { state, get } = browser(1, () => Promise.reject(refused));
  const ticket = get(new AbortController().signal, true);
  const settled = expect(ticket).rejects.toBe(refused);
  await jest.advanceTimersByTimeAsync(5_000);
  await settled;
  expect(state).toEqual({ sent: 2, aborted: 1 });
});
