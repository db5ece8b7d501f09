/**
 * Files of this package, found from `dist`: its modules lie there in folders, or in one bundle (scripts/pack). Every
 * path is therefore built here, in the top folder. An executable has no files beside it, and replaces these values
 * (scripts/pack/executable.mjs).
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Script, readScript } from '@relay/daemon-kit';

/** The default conversation of the script agent. */
export const demoScriptFile = new URL('../scripts/demo.json', import.meta.url);
export const demoScript = (): Script => readScript(demoScriptFile);

/** The ACP demonstration agent that ships with this program. */
export const demoAgentFile = fileURLToPath(new URL('../scripts/demo-agent.mjs', import.meta.url));

/** The program itself, for the definition of a service. */
export const programFile = fileURLToPath(new URL('./main.js', import.meta.url));

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

/** The version this daemon declares in `X-Daemon-Version` and prints with `--version`. */
export const daemonVersion = manifest.version;
