import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type HistoryMessage, type PageRequest, pageOf } from '../src/history.ts';

const message = (uuid: string, content = uuid): HistoryMessage => ({
  uuid,
  role: 'USER',
  content,
  timestamp: '2026-01-01T00:00:00.000Z',
});
const conversation = (length: number) => Array.from({ length }, (_, index) => message(`m${index}`));
const pageUuids = (messages: HistoryMessage[], request: PageRequest) => {
  const result = pageOf(messages, request);
  if (!result.ok) throw new Error(result.error);
  return { uuids: result.page.messages.map(({ uuid }) => uuid), ...result.page };
};

describe('a page of history (specification §6.2)', () => {
  it('has the last messages in chronological order, and reports that older ones exist', () => {
    const page = pageUuids(conversation(5), { limit: 2 });
    expect(page.uuids).toEqual(['m3', 'm4']);
    expect(page).toMatchObject({ hasMore: true, oldestUuid: 'm3', newestUuid: 'm4' });
  });

  it('has everything if there is no more than the limit', () => {
    const page = pageUuids(conversation(2), { limit: 2 });
    expect(page.uuids).toEqual(['m0', 'm1']);
    expect(page.hasMore).toBe(false);
  });

  it('considers only messages before before_uuid, without it', () => {
    const page = pageUuids(conversation(5), { limit: 2, beforeUuid: 'm3' });
    expect(page.uuids).toEqual(['m1', 'm2']);
    expect(page.hasMore).toBe(true);
  });

  it('considers only messages after after_uuid, without it, and still returns the last ones', () => {
    const page = pageUuids(conversation(6), { limit: 2, afterUuid: 'm1' });
    expect(page.uuids).toEqual(['m4', 'm5']);
    expect(page.hasMore).toBe(true);
  });

  it('considers the messages between both', () => {
    const page = pageUuids(conversation(6), { limit: 10, afterUuid: 'm1', beforeUuid: 'm4' });
    expect(page.uuids).toEqual(['m2', 'm3']);
    expect(page.hasMore).toBe(false);
  });

  it('is empty, without uuids, if there are no messages between them', () => {
    for (const request of [
      { limit: 3, beforeUuid: 'm0' },
      { limit: 3, afterUuid: 'm4' },
      { limit: 3, afterUuid: 'm3', beforeUuid: 'm1' },
    ]) {
      expect(pageUuids(conversation(5), request)).toMatchObject({
        uuids: [],
        hasMore: false,
        oldestUuid: null,
        newestUuid: null,
      });
    }
  });

  it('is an error that names the cursor if a uuid is not in the history', () => {
    expect(pageOf(conversation(2), { limit: 1, beforeUuid: 'gone' })).toEqual({
      ok: false,
      error: expect.stringContaining('before_uuid'),
    });
    expect(pageOf(conversation(2), { limit: 1, afterUuid: 'gone' })).toEqual({
      ok: false,
      error: expect.stringContaining('after_uuid'),
    });
  });

  it('omits older messages that would not fit into the frame, and reports that', () => {
    const messages = [message('m0', 'x'.repeat(900)), message('m1', 'x'.repeat(900)), message('m2', 'x'.repeat(900))];
    const page = pageUuids(messages, { limit: 10, maxBytes: 2500 });
    expect(page.uuids).toEqual(['m1', 'm2']);
    expect(page.hasMore).toBe(true);
  });

  it('returns a single message that alone exceeds the bound', () => {
    expect(pageUuids([message('m0', 'x'.repeat(900))], { limit: 10, maxBytes: 100 }).uuids).toEqual(['m0']);
  });

  it('agrees with the text of the specification for every history and every pair of cursors', () => {
    const position = fc.option(fc.nat({ max: 11 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.nat({ max: 12 }),
        fc.integer({ min: 1, max: 14 }),
        position,
        position,
        (length, limit, before, after) => {
          const all = conversation(length);
          fc.pre((before ?? 0) < Math.max(length, 1) && (after ?? 0) < Math.max(length, 1));
          fc.pre(length > 0 || (before === undefined && after === undefined));
          const considered = all.filter(
            (_, index) => (before === undefined || index < before) && (after === undefined || index > after),
          );
          const last = considered.slice(-limit);
          const page = pageUuids(all, {
            limit,
            beforeUuid: before === undefined ? undefined : `m${before}`,
            afterUuid: after === undefined ? undefined : `m${after}`,
          });
          expect(page.messages).toEqual(last);
          expect(page.hasMore).toBe(considered.length > last.length);
          expect(page.oldestUuid).toBe(last[0]?.uuid ?? null);
          expect(page.newestUuid).toBe(last.at(-1)?.uuid ?? null);
        },
      ),
    );
  });

  it('walks back through everything exactly once with any limit', () => {
    fc.assert(
      fc.property(fc.nat({ max: 40 }), fc.integer({ min: 1, max: 9 }), (length, limit) => {
        const all = conversation(length);
        let walked: HistoryMessage[] = [];
        let beforeUuid: string | undefined;
        for (;;) {
          const page = pageUuids(all, { limit, beforeUuid });
          walked = [...page.messages, ...walked];
          if (!page.hasMore) break;
          beforeUuid = page.oldestUuid ?? undefined;
        }
        expect(walked).toEqual(all);
      }),
    );
  });
});
