import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { historyEntryBytes } from '../src/user-frames.ts';
import { type Backplane, type UserFrame, type Following, follow, createMemoryBus } from '../src/index.ts';

const historyLimit = 5;
/** So much that the newest five entries fit, whose texts are numbers. */
const historyBytes = historyLimit * (historyEntryBytes + 3);

/** All of one length. */
const text = (n: number) => `${n}`.padStart(3, '0');

/** Lets everything that is on its way arrive. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** In memory everything arrives within a few turns, so a failed story repeats immediately. */
async function until(what: string, isSo: () => boolean) {
  for (let turns = 0; !isSo(); turns++) {
    if (turns === 50) throw new Error(`never came true: ${what}`);
    await turn();
  }
}

/** A backplane that loses the next `count` frames, as a subscriber connection does that was rebuilt. */
function losing(backplane: Backplane) {
  let count = 0;
  return {
    lose: (more: number) => void (count += more),
    loseNoMore: () => void (count = 0),
    read: backplane.read.bind(backplane),
    subscribe: (user: string, listener: (frame: UserFrame) => void) =>
      backplane.subscribe(user, (frame) => {
        if (count > 0) count -= 1;
        else listener(frame);
      }),
  };
}

/** An app: remembers the offset of its last frame, and detects unannounced gaps. */
function createReader(line: ReturnType<typeof losing>, appended: () => number) {
  let following: Following | undefined;
  let resumed: Promise<void> = Promise.resolve();
  let since = '';
  let lastEntry = -1;
  let gapped = true;
  /**
   * The number of appended entries at the announced gap: each of them might be missing, even between frames that
   * arrived before it.
   */
  let announced = 0;
  const wrong: string[] = [];
  return {
    wrong,
    lastEntry: () => lastEntry,
    /** For every gap, the number of possibly missed entries. */
    gaps: [] as number[],
    isConnected: () => following !== undefined,
    async connect() {
      if (following) return;
      following = await follow(line, 'user', {
        onFrame: (frame) => {
          since = frame.offset;
          if (frame.hot) return;
          const entry = Number(frame.body);
          const isMissing = !gapped && entry > Math.max(lastEntry + 1, announced);
          if (entry <= lastEntry || isMissing) wrong.push(`${entry} after ${lastEntry}`);
          lastEntry = entry;
          gapped = false;
        },
        onGap: () => {
          this.gaps.push(appended() - 1 - lastEntry);
          since = '';
          gapped = true;
          announced = appended();
        },
      });
      // A reader without an offset cannot recover missed frames.
      if (since === '') gapped = true;
      resumed = following.resume(since);
    },
    async disconnect() {
      await following?.stop();
      following = undefined;
    },
    resumed: () => resumed,
  };
}

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('publish' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('connect' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('disconnect' as const) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), count: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('flush' as const) }) },
  ),
  { maxLength: 40 },
);

describe('any interleaving of append, read and subscribe', () => {
  it('gives a resuming reader exactly the suffix, or reports a gap', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (story) => {
        const bus = createMemoryBus({ historyBytes });
        const gateway = bus.connect('gateway');
        const line = losing(bus.connect('api'));
        let appended = 0;
        const reader = createReader(line, () => appended);
        let flushed = false;
        for (const step of story) {
          if (step.do === 'append') {
            // Not awaited: entries are under way while the next step happens.
            for (let n = 0; n < step.count; n++) void gateway.append('user', text(appended++));
          }
          if (step.do === 'publish') void gateway.publish('user', 'hot');
          if (step.do === 'connect') await reader.connect();
          if (step.do === 'disconnect') await reader.disconnect();
          if (step.do === 'turn') await turn();
          if (step.do === 'lose') line.lose(step.count);
          if (step.do === 'flush') {
            bus.flush();
            flushed = true;
          }
        }
        line.loseNoMore();
        await reader.connect();
        await reader.resumed();
        const gaps = reader.gaps.length;
        await gateway.append('user', text(appended++));
        const isToldOf = (entry: number) => reader.lastEntry() === entry || reader.gaps.length > gaps;
        await until('the entry is heard, or a gap that holds it', () => isToldOf(appended - 1));
        await gateway.append('user', text(appended++));
        await until('the last entry is heard', () => reader.lastEntry() === appended - 1);
        await bus.close();
        expect(reader.wrong).toEqual([]);
        // A gap needs a reason: more entries than the history keeps, or a history that was lost.
        if (!flushed) expect(reader.gaps.filter((missed) => missed <= historyLimit)).toEqual([]);
      }),
      {
        numRuns: 300,
        examples: [
          [
            [
              { do: 'connect' },
              { do: 'append', count: 1 },
              { do: 'flush' },
              { do: 'append', count: 1 },
              { do: 'disconnect' },
              { do: 'append', count: 1 },
            ],
          ],
        ],
      },
    );
  });

  it('recovers an offset exactly when the history still holds its successors', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.nat(), async (count, pick) => {
        const bus = createMemoryBus({ historyBytes });
        const backplane = bus.connect('api');
        const offsets: string[] = [];
        for (let n = 0; n < count; n++) offsets.push((await backplane.append('user', text(n))).offset);
        const known = pick % count;
        const page = await backplane.read('user', offsets[known]);
        await bus.close();
        const missed = count - 1 - known;
        expect(page.recovered).toBe(missed <= historyLimit);
        const suffix = Array.from({ length: missed }, (_, n) => text(known + 1 + n));
        expect(page.items.map(({ body }) => body)).toEqual(page.recovered ? suffix : []);
      }),
      { numRuns: 200 },
    );
  });
});
