/**
 * `relay-daemon hook claude`: Claude Code runs it for each permission that it asks for, and shows its question in the terminal at the same time. It
 * hands the request to the daemon and prints the decision of the person. Without a daemon or a decision it prints nothing, and the terminal decides.
 */
import { connect } from 'node:net';
import { type Terminal } from '@relay/machine';
import { exitCodes } from '@relay/daemon-kit';
import { markerVariable } from '../agents/acp/pool.ts';
import type { CommonOptions } from '../commands/place-options.ts';
import { homeOf } from '../home.ts';
import { doorAddress, requestBytes } from './door.ts';

/** Claude Code treats another exit code as a failure that it shows. */
export async function hookCommand(options: CommonOptions, terminal: Terminal): Promise<number> {
  const { stateDir } = homeOf({ home: options.home, profile: options.profile, env: terminal.env });
  const address = doorAddress(stateDir);
  // The daemon asks the questions of its own agents itself.
  if (address === undefined || terminal.env[markerVariable] !== undefined) return exitCodes.ok;
  const request = await terminal.readInput(requestBytes);
  const line = request === undefined ? undefined : oneLine(request);
  if (line !== undefined) terminal.out(await answerTo(line, address));
  return exitCodes.ok;
}

/** Resolves with the text that the daemon sends, empty without a decision. Never rejects. */
const answerTo = (line: string, address: string): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    const socket = connect(address, () => socket.write(`${line}\n`)).setEncoding('utf8');
    socket.on('data', (part: string) => (text += part));
    socket.on('error', () => resolve(''));
    socket.on('close', () => resolve(text));
  });

function oneLine(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}
