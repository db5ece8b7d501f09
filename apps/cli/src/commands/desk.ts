/** `relay desk`: shows how to continue a session in a terminal on its machine. */
import { spawn } from 'node:child_process';
import { hostname } from 'node:os';
import { type DeskState, parseSessionId } from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { findSession } from '../naming.ts';
import { contextOf } from './context.ts';

interface DeskOptions extends CommonOptions {
  go?: boolean;
}

const reasons: Readonly<Record<string, string>> = {
  busy: 'The agent is working. Stop it or wait, then the command works.',
  question: 'A question is open. Answer it first.',
  held: 'A terminal has the session open already.',
  waiting: 'A message waits until the session is closed there.',
};
const reasonFor = ({ free, why }: DeskState): string =>
  free ? 'Nothing runs here, so the session is free.' : (reasons[why ?? ''] ?? 'The session is not free.');

/** The program and arguments of `--go`, before the session id. Commands from the relay are for people: this program never runs them. */
const programs: Readonly<Record<string, readonly [string, ...string[]]>> = {
  claude_code: ['claude', '--resume'],
  codex: ['codex', 'resume'],
};

/** Releases the session and prints its command. `--go` continues it in this terminal, on that machine. */
export async function deskCommand(typed: string, options: DeskOptions, terminal: Terminal): Promise<number> {
  const { relay, print } = contextOf(options, terminal);
  const { id, deviceId, agentType } = await findSession(relay, typed);
  const state = await relay.call('letGo', { params: { id } });
  if (!options.go) {
    const { command = 'Relay does not know the command of this agent.' } = state;
    print(state, () => `${reasonFor(state)}\n${command}\n`);
    return state.free ? exitCodes.ok : exitCodes.failed;
  }
  if (!state.free) throw new Failure('NOT_FREE', reasonFor(state));
  const [program, ...words] = programs[agentType] ?? [];
  const nativeId = parseSessionId(id)?.nativeId ?? '';
  if (program === undefined || !/^\w[\w-]*$/.test(nativeId))
    throw new Failure('NO_COMMAND', 'Relay does not know the command of this agent.');
  const { devices } = await relay.call('listDevices');
  const device = devices.find((one) => one.id === deviceId);
  if (device?.hostname !== hostname())
    throw new Failure('OTHER_MACHINE', `The session is on ${device?.name ?? 'another machine'}: run this there.`);
  return run(program, [...words, nativeId], state.cwd);
}

/** Runs the agent in this terminal and returns its exit code. */
const run = (program: string, words: readonly string[], cwd: string | undefined): Promise<number> =>
  new Promise((resolve, reject) => {
    const agent = spawn(program, words, { stdio: [0, 1, 2], ...(cwd === undefined ? {} : { cwd }) });
    agent.once('error', (error) =>
      reject(new Failure('NOT_STARTED', `${program} could not be started: ${error.message}`)),
    );
    agent.once('close', (code) => resolve(code ?? exitCodes.failed));
  });
