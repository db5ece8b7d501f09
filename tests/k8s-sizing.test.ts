/** Promise: the table of sizes in docs/operations.md is what its formulas give. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';

/** The day of an idle daemon, as the page describes it, in its busiest hour: per second. */
function sizesOf(daemons: number, cores: number) {
  const perSecond = (aDay: number) => (daemons * aDay) / 5 / 3600;
  const [connects, tasks, reports] = [perSecond(1), perSecond(4), perSecond(8)];
  const apps = daemons / 5;
  const requests = (apps * 10) / 3600;
  const gateways = Math.max(2, Math.ceil(daemons / 5000)) + 1;
  const apis = Math.max(2, Math.ceil((requests * 0.003) / 0.6), Math.ceil(apps / 5000)) + 1;
  return [
    gateways,
    apis,
    6 * connects + 3 * reports + 12 * tasks + 2 * requests + daemons / 300 / 500,
    10 * (gateways + apis),
    daemons / 20 + 4 * connects + 8 * tasks + 2 * (12 * tasks + reports),
    (0.3 * daemons + (50 * 2 * apps) / 12) / 1024,
    Math.max(daemons / (150 * gateways), (daemons * 0.0011) / cores),
  ];
}

/** The printed form: two digits. */
const close = (printed: string, exact: number) =>
  printed.startsWith('<') ? exact < 1 : Math.abs(Number(printed.replace(/[,a-zA-Z ]/g, '')) / exact - 1) < 0.15;

describe('the table of sizes', () => {
  it('is what the formulas give, up to a million daemons', async () => {
    const page = await readFile(new URL('../docs/operations.md', import.meta.url), 'utf8');
    const section = page.slice(page.indexOf('### On paper'), page.indexOf('## Scaling Redis'));
    const rows = [...section.matchAll(/^\| ([\d,]+) \|(.*)\|$/gm)];
    expect(rows.map(([, daemons]) => daemons)).toEqual(['100', '1,000', '10,000', '100,000', '1,000,000']);
    for (const [, daemons = '', rest = ''] of rows) {
      const cells = rest.split('|').map((cell) => cell.trim());
      const [gateways, apis, statements, connections, postgres = '', commands, memory, , storm] = cells;
      const exact = sizesOf(Number(daemons.replaceAll(',', '')), Number.parseInt(postgres, 10));
      const printed = [gateways, apis, statements, connections, commands, memory, storm].map((cell) => cell ?? '');
      const wrong = printed.filter((cell, n) => !close(cell, exact[n] ?? Number.NaN));
      expect([daemons, ...wrong]).toEqual([daemons]);
    }
  });
});
