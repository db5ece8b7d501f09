/** What a replacement of instances, one after the other, did to those who worked with the relay meanwhile. */
import type { Load } from './load.ts';

/** Ends the load. Unharmed: three empty lists, and nothing but 1001 among the codes that daemons were closed with. */
export async function harmOf(load: Load) {
  const { journal } = load;
  const closes = [...new Set(journal.of('disconnected').map(({ code }) => code))];
  const broken = await load.settle({ mayCut: false });
  // A question may find its daemon between two gateways; everything else succeeds.
  const failed = journal.of('answered').filter(({ status, code }) => status >= 500 && !code.startsWith('DEVICE_'));
  return { broken, failed, cut: journal.of('cut'), closes };
}
export const unharmed = { broken: [], failed: [], cut: [], closes: [1001] };
