import { describe, expect, it } from '@jest/globals';
import { AddressRefused } from '../../src/push/guard.ts';
import { ServiceRefused, outcomeOf, outcomeOfError } from '../../src/push/outcome.ts';

const webhook = { attempts: 1, kind: 'webhook' } as const;
const browser = { attempts: 1, kind: 'webpush' } as const;
const latest = () => 1;

describe('the outcome of a delivery', () => {
  it('is accepted with every success status', () => {
    const statuses = [200, 201, 202, 204];
    expect(statuses.map((status) => outcomeOf({ status }, webhook))).toEqual(
      statuses.map((status) => ({ state: 'accepted', httpStatus: status })),
    );
  });

  it('is retried after every temporary status', () => {
    const statuses = [408, 425, 429, 500, 502, 503, 504];
    expect(statuses.map((status) => outcomeOf({ status }, webhook, latest))).toMatchObject(
      statuses.map((status) => ({ state: 'pending', httpStatus: status, delayMs: 5000 })),
    );
  });

  it('waits longer with every attempt, an hour at most, and never zero', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 50].map(
      (attempts) => outcomeOf({ status: 503 }, { ...webhook, attempts }, latest).delayMs,
    );
    expect(delays).toEqual([5000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 3_600_000, 3_600_000]);
    expect(outcomeOf({ status: 503 }, webhook, () => 0).delayMs).toBe(1000);
  });

  it('waits as long as the service asks', () => {
    expect(outcomeOf({ status: 429, retryAfterMs: 90_000 }, webhook)).toMatchObject({ delayMs: 90_000 });
  });

  it.each([0, 999])('ignores a Retry-After of %d ms', (retryAfterMs) => {
    expect(outcomeOf({ status: 503, retryAfterMs }, webhook, latest)).toMatchObject({ delayMs: 5000 });
  });

  it('fails at a redirect, and never follows it', () => {
    const statuses = [301, 302, 307, 308];
    expect(statuses.map((status) => outcomeOf({ status }, webhook))).toMatchObject(
      statuses.map((status) => ({ state: 'failed', httpStatus: status })),
    );
    expect(statuses.filter((status) => outcomeOf({ status }, webhook).pause !== undefined)).toEqual([]);
  });

  it('pauses a typed address after 400, 401 and 403', () => {
    const statuses = [400, 401, 403];
    expect(statuses.map((status) => outcomeOf({ status }, webhook))).toMatchObject(
      statuses.map((status) => ({ state: 'failed', httpStatus: status, pause: expect.any(String) })),
    );
  });

  it('B10: blames the operator for a 401 or 403 of Web Push, and the address for a 400', () => {
    for (const kind of ['webpush', 'unifiedpush'] as const) {
      for (const status of [401, 403])
        expect(outcomeOf({ status }, { attempts: 1, kind }, latest)).toMatchObject({
          ...{ state: 'pending', isRefused: true, httpStatus: status, delayMs: 5000 },
          reason: expect.stringMatching(/operator/),
        });
      expect(outcomeOf({ status: 400 }, { attempts: 1, kind })).toMatchObject({
        state: 'failed',
        pause: expect.any(String),
      });
    }
  });

  it('pauses nothing and waits when a service does not accept this relay', () => {
    for (const outcome of [
      outcomeOf({ status: 403, meaning: 'ours' }, { attempts: 1, kind: 'apns' }, latest),
      outcomeOfError(new ServiceRefused(401), 1, latest),
    ])
      expect(outcome).toMatchObject({ state: 'pending', isRefused: true, delayMs: 5000 });
  });

  it.each([404, 410])(
    '%d deletes the subscription of an app too, unless the status refers to an earlier one',
    (status) => {
      for (const kind of ['unifiedpush', 'fcm', 'apns'] as const)
        expect(outcomeOf({ status }, { attempts: 1, kind })).toMatchObject({ state: 'gone' });
      const stale = outcomeOf({ status, meaning: 'stale' }, { attempts: 1, kind: 'apns' });
      expect(stale).toMatchObject({ state: 'pending', httpStatus: status });
    },
  );

  it.each([404, 410])('%d deletes the subscription of a browser, and pauses a typed address', (status) => {
    expect(outcomeOf({ status }, browser)).toMatchObject({ state: 'gone' });
    expect(outcomeOf({ status }, webhook)).toMatchObject({ state: 'failed', pause: expect.any(String) });
  });

  it('retries after a lost connection, and not after a refused address', () => {
    const broken = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' });
    expect(outcomeOfError(broken, 1, latest)).toEqual({
      state: 'pending',
      reason: 'The service did not answer (ECONNREFUSED).',
      delayMs: 5000,
    });
    expect(outcomeOfError(new AddressRefused('x'), 1)).toMatchObject({ state: 'failed', pause: expect.any(String) });
  });
});
