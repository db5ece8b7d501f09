/**
 * Files of this package, found from `dist`: its modules lie there in folders, or as one bundle (scripts/pack). Every path is
 * therefore made here, in the top folder. An executable has no files beside it, and other values here (scripts/pack/executable.mjs).
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Script, readScript } from '@relay/daemon-kit';

/** The conversation that is played when none is given. */
export const demoScriptFile = new URL('../scripts/demo.json', import.meta.url);
export const demoScript = (): Script => readScript(demoScriptFile);

/** The demonstration agent, which speaks ACP and is installed with this program. */
export const demoAgentFile = fileURLToPath(new URL('../scripts/demo-agent.mjs', import.meta.url));

/** The program itself, for the definition of a service. */
export const programFile = fileURLToPath(new URL('./main.js', import.meta.url));

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

/** The version this daemon declares in `X-Daemon-Version` and prints with `--version`. */
export const daemonVersion = manifest.version;
