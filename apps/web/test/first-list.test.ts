import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Client } from '@relay/client';
import type { LiveFrame } from '../src/live.ts';
import { createFirstList } from '../src/sessions/first-list.ts';
import { filterKey, noFilter } from '../src/sessions/listed.ts';

/** A relay that has no sessions and notes what it was asked, and a stream that speaks when told. */
function ground() {
  const asked: unknown[] = [];
  const call = (_: string, { query }: { query: unknown }) => {
    asked.push(query);
    return Promise.resolve({ sessions: [] });
  };
  let hear: (frame: LiveFrame) => void = () => undefined;
  const onFrame = (listener: (frame: LiveFrame) => void) => {
    hear = listener;
    return () => undefined;
  };
  const first = createFirstList({ client: { call } as unknown as Client, live: { onFrame } });
  return { asked, first, say: () => hear({ type: 'resync' }) };
}
const at = (pathname: string, search = '') => ({ pathname, search }) as Location;

describe('the list of the first page', () => {
  afterEach(() => void jest.useRealTimers());

  it('is asked for once, with its pinned and waiting sessions, and taken once', async () => {
    const { asked, first } = ground();
    first.begin(at('/sessions'), '');
    expect(asked).toHaveLength(3);
    await expect(first.take(filterKey(noFilter))).resolves.toEqual({ sessions: [], nextCursor: undefined });
    expect(first.take(filterKey(noFilter))).toBeUndefined();
  });

  it('has the filter of the address, and is none of another filter', () => {
    const { asked, first } = ground();
    first.begin(at('/relay/sessions', '?status=failed'), '/relay');
    expect(asked[0]).toMatchObject({ status: 'failed' });
    expect(first.take(filterKey(noFilter))).toBeUndefined();
  });

  it('is not asked for where another page is opened', () => {
    const { asked, first } = ground();
    first.begin(at('/sessions/one'), '');
    expect(asked).toEqual([]);
  });

  it('is asked for again when the relay said something, when it is old, and when another person comes', () => {
    const { first, say } = ground();
    first.begin(at('/'), '');
    say();
    expect(first.take(filterKey(noFilter))).toBeUndefined();

    jest.useFakeTimers();
    first.begin(at('/'), '');
    jest.advanceTimersByTime(5_000);
    expect(first.take(filterKey(noFilter))).toBeUndefined();

    first.begin(at('/'), '');
    first.drop();
    expect(first.take(filterKey(noFilter))).toBeUndefined();
  });
});
