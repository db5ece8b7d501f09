// A frame of a transcript on its way to an app, next to output of the same size on the same instances.
import { Table } from '../measure.mjs';
import { measured, names, startAll } from '../systems/all.mjs';

const pairs = 32;
const bytes = 4096;
const paces = [
  { pace: 'saturated', full: 8_000, how: { window: 8 } },
  { pace: '2,000 a second', full: 8_000, how: { perSecond: 2_000 } },
];
/**
 * Pairs of short measurements in a round: other load on the machine affects both of a pair alike, and the median drops
 * the rest.
 */
const blocks = 8;

export async function transcript({ rounds, progress, folder, share, profile }) {
  const cost = new Table('Transcript: CPU of instances and Redis, µs per frame of 4 KB');
  const ratios = new Table('Transcript: ratio of CPU');
  const options = { people: pairs, folder, progress, profile };
  const { systems, stop } = await startAll(['relay', 'single'], options);
  try {
    for (const { load } of systems) await load.ask('pairs', { count: pairs, transcript: true });
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      for (const { pace, full, how } of paces) {
        const count = Math.ceil((full * share) / blocks);
        for (let block = 0; block < blocks; block += 1) {
          for (const { name, system, load } of systems) {
            const took = { OUTPUT: 0, TRANSCRIPT: 0 };
            // Each once before and once after the other: the first finds colder caches.
            for (const transcript of [false, true, true, false]) {
              const one = await measured(system, () => load.ask('events', { bytes, count, transcript, ...how }));
              took[transcript ? 'TRANSCRIPT' : 'OUTPUT'] += one.all / count / 2;
            }
            if (round === 0) continue;
            const row = `${pace}: ${names[name]}`;
            for (const [kind, each] of Object.entries(took)) cost.add(row, kind, each);
            ratios.add(row, 'TRANSCRIPT / OUTPUT', took.TRANSCRIPT / took.OUTPUT);
          }
        }
      }
    }
  } finally {
    await stop();
  }
  return [ratios, cost];
}
