import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { openDatabase } from '@relay/database';
import { startCluster } from '@relay/testing';
import {
  type TakingService,
  askedAt,
  deliveryIn,
  notify,
  openSingle,
  sendTest,
  startTakingService,
} from '../delivery-scene.ts';
import { lasting, until } from './until.ts';

/** Longer than a claim, and longer than any attempt. */
const stoppedMs = 90_000;
/** Any number works: an advisory lock that every claim in this test needs. */
const claimLock = 815;

/** Promise: rules, 14.8. The test stops the process with SIGSTOP and resumes it later. */
describe('a process that is stopped for 90 s in the middle of a delivery', () => {
  let service: TakingService;
  const stops: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    service = await startTakingService();
    stops.push(() => service.close());
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  it('one of two apis: the other sends the claimed deliveries, once and marked, and the first sends and records nothing more', async () => {
    const cluster = await startCluster({ apis: 2, gateways: 0, env: service.env });
    stops.push(() => cluster.stop());
    const database = await openDatabase({ url: cluster.databaseUrl, poolSize: 1, transactionTimeoutMs: 60_000 });
    stops.push(() => database.close());
    await database.sql.execute`
      CREATE FUNCTION wait_to_claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.state = 'sending' THEN PERFORM pg_advisory_xact_lock_shared(815); END IF;
        RETURN NEW;
      END $$`;
    await database.sql.execute`
      CREATE TRIGGER wait_to_claim BEFORE UPDATE ON deliveries FOR EACH ROW EXECUTE FUNCTION wait_to_claim()`;
    const [stopped, other] = cluster.apis;
    const [atStopped, atOther] = [{ relay: askedAt(cluster, stopped!) }, { relay: askedAt(cluster, other!) }];
    const taken = await service.subscribe(atStopped.relay, 'taken');
    const claimed = await service.subscribe(atStopped.relay, 'claimed');
    await other!.kill();

    // When the process stops, it waits for the answer of one delivery and for the claim of another.
    const events = new EventEmitter();
    const [arrived, paused] = [once(events, 'arrived'), once(events, 'paused')];
    const answered = service.answerOnce(() => {
      events.emit('arrived');
      return paused;
    });
    await notify(atStopped.relay, 'taken');
    await arrived;
    await database.sql.transaction(async (tx) => {
      await tx.sql.query`SELECT pg_advisory_xact_lock(${claimLock}::int)::text AS locked`;
      await notify(atStopped.relay, 'claimed');
      await until('the claim waits', async () => {
        const [row] = await tx.sql.query<{ waits: number }>`
          SELECT count(*)::int AS waits FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
        return row!.waits > 0;
      });
      stopped!.pause();
      events.emit('paused');
      await answered;
    });
    await other!.start();
    await lasting(stoppedMs);
    const first = await deliveryIn(atOther, 'taken', 'accepted');
    const second = await deliveryIn(atOther, 'claimed', 'accepted');
    stopped!.resume();
    await other!.kill();
    await sendTest(atStopped, 'taken', taken);
    await sendTest(atStopped, 'claimed', claimed);
    expect({ times: service.timesOf(first.id), flagged: first.maybeDuplicate }).toEqual({ times: 2, flagged: true });
    expect({ times: service.timesOf(second.id), flagged: second.maybeDuplicate }).toEqual({ times: 1, flagged: true });
  }, 400_000);

  it('the single process: it arrives once, or twice and marked', async () => {
    const home = await openSingle(service.env);
    stops.push(() => home.stop());
    const address = await service.subscribe(home.relay, 'ada');
    const answered = service.answerOnce(() => home.signal('SIGSTOP'));
    const notified = notify(home.relay, 'ada');
    await answered;
    await lasting(stoppedMs);
    home.signal('SIGCONT');
    await notified;
    const { id, maybeDuplicate } = await deliveryIn(home, 'ada', 'accepted');
    await sendTest(home, 'ada', address);
    expect([
      { times: 1, maybeDuplicate: false },
      { times: 2, maybeDuplicate: true },
    ]).toContainEqual({ times: service.timesOf(id), maybeDuplicate });
  }, 400_000);
});
