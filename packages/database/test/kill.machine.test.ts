import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { openDatabase } from '../src/open.ts';
import { runProgram, temporaryFolders, template } from './databases.ts';

describe('kill -9', () => {
  const folder = temporaryFolders();

  it('in the middle of writes loses nothing that was acknowledged, and leaves nothing half written', async () => {
    const dataDir = folder();
    await (await openDatabase({ dataDir, template: await template() })).close();
    const acknowledged: string[] = [];
    for (const round of ['a', 'b', 'c']) {
      const writer = runProgram('write', dataDir, round);
      for (let n = 0; n < 40; n += 1) acknowledged.push((await writer.line())!);
      await writer.crash();
      for (let line = await writer.line(); line !== undefined; line = await writer.line()) acknowledged.push(line);
    }
    const database = await openDatabase({ dataDir });
    try {
      const rows = await database.models.device.findMany({ include: { connections: true } });
      expect(acknowledged.length).toBeGreaterThanOrEqual(120);
      expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
      expect(rows.filter(({ connections }) => connections.length !== 1)).toEqual([]);
    } finally {
      await database.close();
    }
  });

  it('during the first start leaves no database, and the next start makes one', async () => {
    const dataDir = path.join(folder(), 'new');
    const first = runProgram('open', dataDir);
    const started = () => existsSync(dataDir) && readdirSync(dataDir).some((name) => name.startsWith('pgdata.new-'));
    while (!started()) await new Promise((resolve) => setImmediate(resolve));
    await first.crash();
    const database = await openDatabase({ dataDir });
    try {
      expect(await database.models.device.count()).toBe(0);
      expect(readdirSync(dataDir)).toEqual(['pgdata']);
    } finally {
      await database.close();
    }
  });
});
