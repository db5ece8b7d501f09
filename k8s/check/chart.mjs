// The chart as Helm would install it.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RenderError, parseObjects } from './render.mjs';

const run = promisify(execFile);

export const chart = fileURLToPath(new URL('../chart', import.meta.url));

/**
 * Resolves with the output of Helm.
 * @throws RenderError with Helm's own message; a missing Helm is a failure, never a skip
 */
export async function helm(...words) {
  const program = process.env.HELM ?? 'helm';
  try {
    const { stdout } = await run(program, words, { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    if (error.code === 'ENOENT')
      throw new RenderError(`${program} is not installed: scripts/install-test-programs.sh, or set HELM to its path`);
    throw new RenderError(`helm ${words[0]} refuses: ${String(error.stderr || error.message).trim()}`);
  }
}

/** The objects that `helm install` would send, with these values merged into the chart's. Throws RenderError. */
export async function chartObjects(values, { namespace = 'relay' } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'relay-values-'));
  const file = join(folder, 'values.json');
  try {
    await writeFile(file, JSON.stringify(values));
    return parseObjects(await helm('template', 'relay', chart, '--namespace', namespace, '--values', file));
  } finally {
    await rm(folder, { recursive: true });
  }
}
