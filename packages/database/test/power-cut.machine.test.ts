/**
 * Promise: an acknowledged commit survives a power cut at any point (rules, 15.16). A real engine works on recorded
 * files; for each cut another engine opens the files that a disk would have kept. `POWER_CUTS=all` cuts after every
 * operation instead of a sample.
 */
import { PGlite } from '@electric-sql/pglite';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { SyncedFiles } from '../src/embedded-files.ts';
import { openFolder } from '../src/embedded-folder.ts';
import { startParams } from '../src/embedded-pglite.ts';
import { clusterName } from '../src/embedded-places.ts';
import { temporaryFolders } from './databases.ts';
import { type Act, type Luck, RecordedFiles, afterPowerCut } from './power-cut-disk.ts';

const lucks: readonly Luck[] = ['nothing', 'pieces', 'everything'];
const sampled = 12;

/** A repeatable sequence of numbers between 0 and 1 (mulberry32). */
function chanceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const open = (files: SyncedFiles, sync = true) =>
  PGlite.create({ fs: files, startParams: startParams(sync), onStderr: () => false });

/** Pairs of rows in two tables, rows that grow, a checkpoint, a new table and an index. Returns how many acts preceded each answer. */
async function work(db: PGlite, acts: readonly Act[]): Promise<number[]> {
  const answeredAt: number[] = [];
  for (let id = 1; id <= 16; id += 1) {
    await db.transaction(async (tx) => {
      await tx.query('INSERT INTO one VALUES ($1, $2)', [id, String(id).repeat(id % 5 === 0 ? 40_000 : 10)]);
      await tx.query('INSERT INTO two VALUES ($1)', [id]);
      await tx.query(`UPDATE one SET body = body || 'x' WHERE id = $1`, [id - 3]);
    });
    answeredAt.push(acts.length);
    if (id === 5)
      await db.exec('CREATE TABLE three (id int PRIMARY KEY); INSERT INTO three SELECT generate_series(1, 500)');
    if (id === 8) await db.exec('CHECKPOINT');
    if (id === 11) await db.exec('CREATE INDEX ON one (md5(body))');
    if (id === 12) await db.exec('VACUUM one');
  }
  return answeredAt;
}

describe('the power is cut', () => {
  const folder = temporaryFolders();
  let base: string;

  async function record(sync: boolean) {
    const live = path.join(folder(), 'live');
    cpSync(base, live, { recursive: true });
    const files = new RecordedFiles(live);
    const db = await open(files, sync);
    const answeredAt = await work(db, files.acts);
    const acts = [...files.acts];
    await db.close();
    return { acts, answeredAt };
  }

  /** The ids that both tables have after the cut. Rejects when the database does not open, or contradicts itself. */
  async function idsAfter(acts: readonly Act[], cut: number, luck: Luck): Promise<number[]> {
    const dataDir = folder();
    afterPowerCut(base, acts, cut, { luck, chance: chanceFrom(cut), image: path.join(dataDir, clusterName) });
    const opened = await openFolder(dataDir);
    const db = await open(new SyncedFiles(opened.cluster));
    try {
      const ids = async (text: string) => (await db.query<{ id: number }>(text)).rows.map(({ id }) => id);
      const one = await ids('SELECT id FROM one ORDER BY id');
      expect(await ids('SELECT id FROM two ORDER BY id')).toEqual(one);
      await db.exec('SET enable_seqscan = off');
      expect(await ids('SELECT id FROM one WHERE id > 0 ORDER BY id')).toEqual(one);
      expect(
        await ids(
          `SELECT id FROM one WHERE rtrim(body, 'x') <> repeat(id::text, CASE WHEN id % 5 = 0 THEN 40000 ELSE 10 END)`,
        ),
      ).toEqual([]);
      return one;
    } finally {
      await db.close();
      await opened.release();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }

  beforeAll(async () => {
    base = path.join(folder(), 'base');
    const db = await open(new SyncedFiles(base));
    await db.exec('CREATE TABLE one (id int PRIMARY KEY, body text); CREATE TABLE two (id int PRIMARY KEY)');
    await db.close();
  }, 120_000);

  it('and every acknowledged commit is there, complete, for any other surviving writes', async () => {
    const { acts, answeredAt } = await record(true);
    const every = process.env.POWER_CUTS === 'all';
    const step = acts.length / sampled;
    const cuts = every
      ? acts.map((_, index) => index + 1)
      : Array.from({ length: sampled }, (_, n) => Math.floor((n + 1) * step));
    let tried = 0;
    for (const [n, cut] of cuts.entries()) {
      for (const luck of every ? lucks : [lucks[n % lucks.length]!]) {
        const answered = answeredAt.filter((at) => at <= cut).length;
        const ids = await idsAfter(acts, cut, luck).catch((error: unknown) => {
          throw new Error(`a cut after act ${cut} of ${acts.length}, of the rest ${luck}`, { cause: error });
        });
        // The commit in flight can be there as well.
        expect([answered, answered + 1]).toContain(ids.length);
        expect(ids).toEqual(Array.from({ length: ids.length }, (_, index) => index + 1));
        tried += 1;
      }
    }
    expect(tried).toBe(every ? acts.length * lucks.length : sampled);
    if (every) process.stdout.write(`${tried} power cuts over ${acts.length} acts: nothing lost\n`);
  }, 7_200_000);

  it('and without sync commits are lost, which proves that the cuts are real', async () => {
    const { acts, answeredAt } = await record(false);
    expect(acts.some(({ kind }) => kind === 'sync')).toBe(false);
    const ids = await idsAfter(acts, acts.length, 'nothing');
    expect(ids.length).toBeLessThan(answeredAt.length);
  }, 120_000);
});
