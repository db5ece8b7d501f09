import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createClient } from '@relay/client';
import { createEarlyList } from '../src/sessions/early-list.ts';
import { noFilter } from '../src/sessions/listed.ts';
import { loadList } from '../src/sessions/use-sessions.ts';

const place = { publicUrl: 'https://relay.example.com/relay', base: '/relay', isElsewhere: false };
const at = (pathname: string, search = '') => ({ pathname, search }) as Location;

describe('the early requests of the list', () => {
  const { fetch: real } = globalThis;
  let asked: string[];
  let status: number;
  let ticket: Promise<Response>;
  beforeEach(() => {
    asked = [];
    status = 200;
    ticket = Promise.resolve(Response.json({ ticket: 't', expiresIn: 30, offset: 'here' }, { status: 201 }));
    globalThis.fetch = (input, init) => {
      asked.push(`${new Headers(init?.headers).get('authorization')} ${input as string}`);
      if (status !== 200)
        return Promise.resolve(Response.json({ code: 'UNAUTHORIZED', error: 'Sign in.', status }, { status }));
      if (!(input as string).endsWith('/ws-tickets')) return Promise.resolve(Response.json({ sessions: [] }));
      return ticket;
    };
  });
  afterEach(() => {
    globalThis.fetch = real;
    jest.useRealTimers();
  });

  type Early = Pick<ReturnType<typeof createEarlyList>, 'fetch'>;
  const clientOf = ({ fetch }: Early) => {
    const getToken = ({ refused }: { refused?: string | undefined }) =>
      Promise.resolve(refused === undefined ? 'one' : 'two');
    return createClient({ baseUrl: place.publicUrl, getToken, fetch, retries: 0 });
  };
  const load = (early: Early) => loadList(clientOf(early), noFilter);
  const lists = () => asked.filter((one) => one.includes('/api/sessions?'));
  const turn = () => new Promise((resolve) => setTimeout(resolve));

  it('are used by the page, which sends no others until its next load', async () => {
    const early = createEarlyList(place, at('/relay/sessions'));
    early.ask('one');
    await expect(load(early)).resolves.toMatchObject({ sessions: [] });
    expect(lists()).toHaveLength(2);
    await load(early);
    expect(lists().slice(2)).toEqual(lists().slice(0, 2));
  });

  it('W9: wait for the position of the stream, which starts there with the requested ticket', async () => {
    let answer: (response: Response) => void = () => undefined;
    ticket = new Promise((resolve) => (answer = resolve));
    const early = createEarlyList(place, at('/relay/sessions'));
    early.ask('one');
    const [loaded, devices] = [load(early), early.fetch(`${place.publicUrl}/api/devices`)];
    await turn();
    expect(asked).toEqual([`Bearer one ${place.publicUrl}/api/ws-tickets`]);
    answer(Response.json({ ticket: 't', expiresIn: 30, offset: 'here' }, { status: 201 }));
    await Promise.all([loaded, devices]);
    expect(asked).toHaveLength(4);
    await expect(early.position()).resolves.toBe('here');
    await expect(clientOf(early).call('createTicket')).resolves.toMatchObject({ ticket: 't' });
    expect(asked).toHaveLength(4);
    // Another person in the same page starts elsewhere.
    await expect(early.position()).resolves.toBe('');
  });

  it('W9: give the stream a position only with a ticket; otherwise it loads everything again', async () => {
    ticket = Promise.reject(new TypeError('no network'));
    const early = createEarlyList(place, at('/relay/devices'));
    early.ask('one');
    await expect(early.position()).resolves.toBe('');
  });

  it('are sent once, and not for another page or a filter', async () => {
    for (const location of [at('/relay/sessions/one'), at('/relay/sessions', '?status=failed'), at('/relay/devices')])
      createEarlyList(place, location).ask('one');
    await turn();
    expect(lists()).toEqual([]);
    const early = createEarlyList(place, at('/relay/'));
    early.ask('one');
    early.ask('two');
    await turn();
    expect(lists()).toHaveLength(2);
  });

  it('are sent again if their responses are old', async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    const early = createEarlyList(place, at('/relay'));
    early.ask('one');
    await early.position();
    jest.advanceTimersByTime(5_000);
    await load(early);
    expect(lists()).toHaveLength(4);
  });

  it('are sent again if a frame has arrived', async () => {
    const early = createEarlyList(place, at('/relay'));
    early.ask('one');
    await turn();
    early.drop();
    await load(early);
    expect(lists()).toHaveLength(4);
  });

  it('are sent again with another token if the relay refused the first', async () => {
    const early = createEarlyList(place, at('/relay/sessions'));
    status = 401;
    early.ask('one');
    await turn();
    status = 200;
    await expect(load(early)).resolves.toMatchObject({ sessions: [] });
    expect(
      lists()
        .slice(2)
        .every((one) => one.startsWith('Bearer two ')),
    ).toBe(true);
  });

  it('W9: include waiting sessions only if the inbox has a question of another session', async () => {
    const early = createEarlyList(place, at('/relay/devices'));
    await loadList(clientOf(early), noFilter, []);
    expect(lists()).toHaveLength(2);
    await loadList(clientOf(early), noFilter, ['old']);
    expect(lists().slice(2)).toHaveLength(3);
    expect(lists().at(-1)).toContain('status=waiting');
  });
});
