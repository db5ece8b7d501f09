import { describe, expect, it } from '@jest/globals';
import type { SplitAddress, SplitContext } from '@relay/database';
import type { NotificationCause } from '@relay/protocol';
import { verdictOf } from '../../src/push/verdict.ts';

/** Rules, 14.11 to 14.15: every rule, with the reason that its user reads. */
describe('the verdict about an address', () => {
  const now = Date.parse('2026-01-15T12:00:00Z');
  const plain: SplitAddress = { id: 'a', levels: {}, group: '', delaySeconds: 0, recent: 0, digestInMs: undefined };
  const watched: SplitContext = { levels: {}, quietHours: null, watched: true, notify: undefined };
  const verdict = (
    cause: NotificationCause,
    address: Partial<SplitAddress> = {},
    context: Partial<SplitContext> = {},
    shown = false,
  ) => verdictOf(cause, { shown, now })({ ...plain, ...address }, { ...watched, ...context });
  const sent = { delayMs: 0 };

  it.each<[NotificationCause, Partial<SplitAddress>, Partial<SplitContext>, string | undefined]>([
    ['done', {}, {}, undefined],
    ['done', {}, { watched: false }, 'The session is not watched.'],
    ['done', {}, { watched: false, levels: { done: 'all' } }, undefined],
    ['unknown', {}, { watched: false, levels: { done: 'all' } }, 'The session is not watched.'],
    ['failed', {}, { watched: false }, undefined],
    ['needs_you', {}, { watched: false }, undefined],
    ['needs_you', {}, { watched: false, levels: { needs_you: 'watched' } }, 'The session is not watched.'],
    ['done', { levels: { done: 'all' } }, { watched: false }, undefined],
    ['done', {}, { levels: { done: 'off' } }, 'Off in your settings.'],
    ['done', { levels: { done: 'watched' } }, { levels: { done: 'off' } }, undefined],
    ['needs_you', { levels: { needs_you: 'off' } }, { levels: { needs_you: 'all' } }, 'Off for this address.'],
    ['unknown', {}, { notify: 'off', levels: { unknown: 'all' } }, 'Off for this session.'],
    ['done', {}, { notify: 'all', levels: { done: 'off' } }, undefined],
    ['done', { levels: { done: 'off' } }, { notify: 'all' }, 'Off for this address.'],
    ['device_conflict', {}, { watched: false }, 'Off in your settings.'],
    ['device_conflict', {}, { watched: false, levels: { device: 'watched' } }, undefined],
    ['device_allowed', {}, { watched: false, notify: 'off' }, undefined],
    ['program_allowed', { levels: { device: 'off' } }, { watched: false }, undefined],
    ['account_changed', { levels: { device: 'off' } }, { watched: false }, undefined],
  ])('%s %j %j: %s', (cause, address, context, suppressed) =>
    expect(verdict(cause, address, context)).toEqual(suppressed === undefined ? sent : { suppressed, delayMs: 0 }),
  );

  it('S7: delays no change of the account', () => {
    expect(verdict('needs_you', { delaySeconds: 60 })).toMatchObject({ heldFor: 'delay', delayMs: 60_000 });
    for (const cause of ['device_allowed', 'program_allowed', 'account_changed'] as const)
      expect(verdict(cause, { delaySeconds: 60 })).toEqual(sent);
  });

  it('waits for a page that shows the session, only for completions and failures', () => {
    const waits = { heldFor: 'reading', delayMs: 8000 };
    for (const cause of ['done', 'failed'] as const) expect(verdict(cause, {}, {}, true)).toMatchObject(waits);
    for (const cause of ['needs_you', 'unknown', 'program_allowed'] as const)
      expect(verdict(cause, {}, {}, true)).toEqual(sent);
  });

  it('puts the sixth completion in a minute into a digest, and the 31st of other causes', () => {
    expect(verdict('done', { recent: 4 })).toEqual(sent);
    expect(verdict('done', { recent: 5 })).toMatchObject({ heldFor: 'storm', delayMs: 60_000 });
    expect(verdict('done', { recent: 9, digestInMs: 12_345 })).toMatchObject({ heldFor: 'storm', delayMs: 12_345 });
    expect(verdict('needs_you', { recent: 29 })).toEqual(sent);
    expect(verdict('needs_you', { recent: 30 })).toMatchObject({ heldFor: 'storm' });
    expect(verdict('device_allowed', { recent: 300 })).toEqual(sent);
  });

  it('holds for quiet hours before it holds for any other reason', () => {
    const quietHours = { start: '11:00', end: '13:00', timeZone: 'UTC' };
    const held = { heldFor: 'quiet_hours', delayMs: 3600_000, reason: 'Held until your quiet hours end.' };
    expect(verdict('done', { recent: 9, delaySeconds: 5 }, { quietHours }, true)).toEqual(held);
    expect(verdict('needs_you', {}, { quietHours })).toEqual(sent);
    expect(verdict('program_allowed', {}, { quietHours })).toEqual(sent);
  });

  it('waits for the delay of the address', () => {
    expect(verdict('needs_you', { delaySeconds: 300 })).toMatchObject({ heldFor: 'delay', delayMs: 300_000 });
  });
});
