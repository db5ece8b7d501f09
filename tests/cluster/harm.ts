/** The harm to clients during a rolling replacement of instances. */
import type { Cluster } from '@relay/testing';
import type { Load } from './load.ts';

/**
 * Ends the load. Without harm, the lists are empty, and 1001 is the only close code of daemons. If a request failed,
 * `logged` has the log of the instances.
 */
export async function harmOf(load: Load, { apis, gateways }: Pick<Cluster, 'apis' | 'gateways'>) {
  const { journal } = load;
  const closes = [...new Set(journal.of('disconnected').map(({ code }) => code))];
  const broken = await load.settle({ mayCut: false });
  // A history request can fail while its daemon moves between two gateways; everything else succeeds.
  const failed = journal.of('answered').filter(({ status, code }) => status >= 500 && !code.startsWith('DEVICE_'));
  const logged = failed.length === 0 ? [] : [...apis, ...gateways].flatMap((instance) => instance.logged());
  return { broken, failed, cut: journal.of('cut'), closes, logged };
}
export const unharmed = { broken: [], failed: [], cut: [], closes: [1001], logged: [] };
