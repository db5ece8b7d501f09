/** Promise: no delivery waits for a removed address (rules, 14.8). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type ClaimedDelivery,
  type Database,
  type Whole,
  claimDeliveries,
  removeSubscription,
  removeSubscriptionsOf,
  settleDelivery,
  splitNotification,
} from '../src/index.ts';
import { onBoth } from './databases.ts';

onBoth('an address that is removed while a notification is split', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());

  const subscribe = (id: string) =>
    database.models.subscription.create({
      data: {
        ...{
          id,
          userId: id,
          kind: 'webpush',
          addressHash: id,
          sealed: '',
          label: '',
          address: 'push.test',
          causes: [],
        },
        ...{ login: id, verified: true },
      },
    });
  /** Writes of its transactions wait for `first`, if it completes while the transaction is open. */
  const after = (first: () => Promise<unknown>): Whole => {
    const transaction: Whole['sql']['transaction'] = (work, opening) =>
      database.sql.transaction((tx, ...rest) => {
        const execute: typeof tx.sql.execute = async (...statement) => {
          await Promise.race([first(), new Promise((resolve) => setTimeout(resolve, 300))]);
          return tx.sql.execute(...statement);
        };
        return work({ ...tx, sql: Object.assign(Object.create(tx.sql) as typeof tx.sql, { execute }) }, ...rest);
      }, opening);
    return { ...database, sql: Object.assign(Object.create(database.sql) as Whole['sql'], { transaction }) };
  };
  /** Splits a notification; the address is removed when it was read and the delivery is not written yet. */
  const splitDuring = async (id: string, remove: () => Promise<unknown>) => {
    await database.models.notification.create({
      data: { id: `n-${id}`, userId: id, sessionKey: '', sessionId: '', cause: 'device_allowed', name: 'x' },
    });
    let removed: Promise<unknown> | undefined;
    const first = () => (removed ??= remove());
    await splitNotification(after(first), { id: `n-${id}`, userId: id, cause: 'device_allowed' }, 60_000, () => ({
      delayMs: 0,
    }));
    await removed;
    expect(await database.models.subscription.count({ where: { id } })).toBe(0);
    const rows = await database.models.delivery.findMany({ where: { subscriptionId: id } });
    return rows.map(({ state }) => state).sort();
  };

  it('by its person: the delivery is superseded', async () => {
    await subscribe('person');
    expect(await splitDuring('person', () => removeSubscription(database, 'person', 'person'))).toEqual(['superseded']);
  });

  it('with the sign-in that added it: the delivery is superseded', async () => {
    await subscribe('sign-in');
    expect(await splitDuring('sign-in', () => removeSubscriptionsOf(database, { login: 'sign-in' }))).toEqual([
      'superseded',
    ]);
  });

  it('because its service rejects it: the delivery is gone, like the one that found out', async () => {
    await subscribe('service');
    await database.models.delivery.create({
      data: {
        ...{ id: 'd-first', subscriptionId: 'service', userId: 'service', cause: 'test' },
        expiresAt: new Date(Date.now() + 60_000),
      },
    });
    const { claimed } = await claimDeliveries(database, { limit: 10, claimer: 'me', afterUser: '' });
    const first = claimed.find(({ id }) => id === 'd-first') as ClaimedDelivery;
    const states = await splitDuring('service', () =>
      settleDelivery(database, first, 'me', { state: 'gone', reason: 'gone' }),
    );
    expect(states).toEqual(['gone', 'gone']);
  });
});
