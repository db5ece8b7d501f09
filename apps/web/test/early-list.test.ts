import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createClient } from '@relay/client';
import { createEarlyList } from '../src/sessions/early-list.ts';
import { noFilter } from '../src/sessions/listed.ts';
import { loadList } from '../src/sessions/load-list.ts';

const place = { publicUrl: 'https://relay.example.com/relay', base: '/relay', isElsewhere: false };
const at = (pathname: string, search = '') => ({ pathname, search }) as Location;

describe('the questions of the list before its page is here', () => {
  const { fetch: real } = globalThis;
  let asked: string[];
  let status: number;
  beforeEach(() => {
    asked = [];
    status = 200;
    globalThis.fetch = (input, init) => {
      asked.push(`${new Headers(init?.headers).get('authorization')} ${input as string}`);
      const body = status === 200 ? { sessions: [] } : { code: 'UNAUTHORIZED', error: 'Sign in.', status };
      return Promise.resolve(Response.json(body, { status }));
    };
  });
  afterEach(() => {
    globalThis.fetch = real;
    jest.useRealTimers();
  });

  const load = ({ fetch }: Pick<ReturnType<typeof createEarlyList>, 'fetch'>) => {
    const getToken = ({ refused }: { refused?: string | undefined }) =>
      Promise.resolve(refused === undefined ? 'one' : 'two');
    return loadList(createClient({ baseUrl: place.publicUrl, getToken, fetch, retries: 0 }), noFilter);
  };

  it('are those of the page: it asks nothing more, and the next time by itself', async () => {
    const early = createEarlyList(place, at('/relay/sessions'));
    early.ask('one');
    expect(asked).toHaveLength(3);
    await expect(load(early)).resolves.toMatchObject({ sessions: [] });
    expect(asked).toHaveLength(3);
    await load(early);
    expect(asked.slice(3)).toEqual(asked.slice(0, 3));
  });

  it('are asked once, and not for another page or a filter', () => {
    for (const location of [at('/relay/sessions/one'), at('/relay/sessions', '?status=failed'), at('/relay/devices')])
      createEarlyList(place, location).ask('one');
    expect(asked).toEqual([]);
    const early = createEarlyList(place, at('/relay/'));
    early.ask('one');
    early.ask('two');
    expect(asked).toHaveLength(3);
  });

  it('are asked again when their answers are old', async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    const early = createEarlyList(place, at('/relay'));
    early.ask('one');
    jest.advanceTimersByTime(5_000);
    await load(early);
    expect(asked).toHaveLength(6);
  });

  it('are asked again when the relay has said something meanwhile', async () => {
    const early = createEarlyList(place, at('/relay'));
    early.ask('one');
    early.drop();
    await load(early);
    expect(asked).toHaveLength(6);
  });

  it('are asked again with another token when the relay refused the first', async () => {
    const early = createEarlyList(place, at('/relay/sessions'));
    status = 401;
    early.ask('one');
    status = 200;
    await expect(load(early)).resolves.toMatchObject({ sessions: [] });
    expect(asked.slice(3).every((one) => one.startsWith('Bearer two '))).toBe(true);
  });
});
