/** The harm that a replacement of instances, one after the other, did to the clients of the relay meanwhile. */
import type { Cluster } from '@relay/testing';
import type { Load } from './load.ts';

/**
 * Ends the load. Unharmed: empty lists, and nothing but 1001 among the codes that daemons were closed with. Where a request failed,
 * `logged` has what the instances said of it.
 */
export async function harmOf(load: Load, { apis, gateways }: Pick<Cluster, 'apis' | 'gateways'>) {
  const { journal } = load;
  const closes = [...new Set(journal.of('disconnected').map(({ code }) => code))];
  const broken = await load.settle({ mayCut: false });
  // A question may find its daemon between two gateways; everything else succeeds.
  const failed = journal.of('answered').filter(({ status, code }) => status >= 500 && !code.startsWith('DEVICE_'));
  const logged = failed.length === 0 ? [] : [...apis, ...gateways].flatMap((instance) => instance.logged());
  return { broken, failed, cut: journal.of('cut'), closes, logged };
}
export const unharmed = { broken: [], failed: [], cut: [], closes: [1001], logged: [] };
