/** The questions of `relay-admin` to a relay that runs, and the answers. */
import { afterEach, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askRelay, listenForAdmin } from '../src/admin-socket.ts';

const folder = mkdtempSync(join(tmpdir(), 'relay-socket-'));
let stop: (() => void) | undefined;
afterEach(() => {
  stop?.();
  rmSync(folder, { recursive: true, force: true });
});

it('brings an answer of any length, with its exit code', async () => {
  const lines = Array.from({ length: 10_000 }, (_, n) => `${n} ${'x'.repeat(100)}`);
  stop = await listenForAdmin(folder, () => Promise.resolve({ lines, code: 1 }));
  expect(await askRelay(folder, { command: 'people' })).toEqual({ lines, code: 1 });
});
