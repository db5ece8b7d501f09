/** Promise: the tables of sizes in docs/operations.md are what the model gives, and the model follows the rates that it is given. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

interface Size {
  daemons: number;
  gateways: number;
  apis: number;
  statementsPerSecond: number;
  redisShards: number;
  partitioned: boolean;
}

const file = fileURLToPath(new URL('../bench/model.mjs', import.meta.url));
const model = async (...words: string[]) => (await promisify(execFile)(process.execPath, [file, ...words])).stdout;
const sizes = async (...words: string[]) => (JSON.parse(await model('--json', ...words)) as { sizes: Size[] }).sizes;

describe('the model of sizes', () => {
  it('gives the tables of docs/operations.md', async () => {
    const page = await readFile(new URL('../docs/operations.md', import.meta.url), 'utf8');
    expect(page).toContain(`<!-- prettier-ignore -->\n${await model()}\n<!-- model: end -->`);
  });

  it('says where one Redis ends, and where one table of tasks does', async () => {
    const [redis = '', table = ''] = [...(await model()).matchAll(/up to ([\d,]+)/g)].map(([, most]) => most);
    const around = (most: string) => [0.95, 1.05].map((share) => Number(most.replaceAll(',', '')) * share).join();
    expect((await sizes('--daemons', around(redis))).map(({ redisShards }) => redisShards)).toEqual([1, 2]);
    expect((await sizes('--daemons', around(table))).map(({ partitioned }) => partitioned)).toEqual([false, true]);
  });

  it('asks more of everything when there is more to do', async () => {
    const usual = await sizes('--daemons', '1000000');
    const busy = await sizes('--daemons', '1000000', '--turns', '4000', '--requests', '1000', '--reports', '800');
    for (const name of ['gateways', 'apis', 'statementsPerSecond', 'redisShards'] as const)
      expect(busy[0]![name]).toBeGreaterThan(usual[0]![name]);
  });

  it('refuses a rate that is no number', async () => {
    await expect(model('--turns', 'many')).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/--turns/) });
    expect(await model('--help')).toMatch(/--turns[\s\S]*--json/);
  });
});
