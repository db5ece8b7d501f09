/** `relay-daemon register`: connects this machine to an account. */
import { hostname as thisHost } from 'node:os';
import { resolve } from 'node:path';
import { renderUnicodeCompact } from 'uqr';
import { type Terminal, Failure } from '@relay/machine';
import { type ChoiceOptions, choiceOf, furtherOf } from '../agents/choice.ts';
import { presetOf } from '../agents/acp/presets.ts';
import { fromHome } from '../agents/project.ts';
import { agentTypePattern, limits, travelsInClear } from '@relay/protocol';
import { createApi, exitCodes, makePrivateFolder, register, serverAddress, systemClock } from '@relay/daemon-kit';
import { type AgentChoice, readConfig, writeConfig, refuseClear } from '../config.ts';
import { writeCredentials } from '../credentials.ts';
import { homeOf } from '../home.ts';
import {
  type CommonOptions,
  type FileOptions,
  type PlaceOptions,
  type TranscriptOptions,
  agentCountOf,
  deskModeOf,
  filesOf,
  filesSentence,
  transcriptSettings,
} from './place-options.ts';

interface RegisterOptions extends CommonOptions, ChoiceOptions, PlaceOptions, TranscriptOptions, FileOptions {
  server: string;
  agentType?: string;
  name?: string;
  hostname?: string;
  force?: boolean;
  insecure?: boolean;
  qr?: boolean;
  key?: string;
}

export async function registerCommand(
  words: readonly string[],
  options: RegisterOptions,
  terminal: Terminal,
): Promise<number> {
  const home = homeOf({ home: options.home, profile: options.profile, env: terminal.env });
  const server = serverAddress(options.server);
  refuseClear(server, options.insecure ?? false, exitCodes.usage);
  const hostname = options.hostname ?? thisHost();
  const agent = choiceOf(words, options, terminal.env);
  const further = furtherOf(agent, options, terminal.env) ?? [];
  const agentType = options.agentType ?? agent?.preset ?? (agent?.kind === 'acp' ? 'acp' : 'scripted');
  const key = options.key ?? (terminal.env.RELAY_DAEMON_KEY || undefined);
  const device = { hostname, agentType, name: options.name ?? hostname, ...(key === undefined ? {} : { key }) };
  checkDevice(device);
  const project = resolve(fromHome(options.project ?? options.allow?.[0] ?? '.'));
  const maxAgents = agentCountOf(options);
  const desk = deskModeOf(options);
  const { detail, thoughts } = transcriptSettings(options);
  const files = options.files === undefined ? {} : { files: filesOf(options, detail) };
  if (!options.force) refuseIfRegistered(home);
  // Before the person confirms: a credential that cannot be stored would be lost.
  makePrivateFolder(home.configDir);
  makePrivateFolder(home.stateDir);

  const say = (record: Record<string, unknown>) => terminal.out(`${JSON.stringify(record)}\n`);
  const progress = progressOn(terminal, options.json ?? false);
  let waits = true;
  const { deviceId, refreshToken } = await register({
    api: createApi(server),
    device,
    clock: systemClock,
    onCode({ userCode, link, expiresInMs, approved }) {
      waits = !approved;
      if (approved) return;
      if (options.json) say({ event: 'code', link, user_code: userCode, expires_in: expiresInMs / 1000 });
      else {
        terminal.out(`Open this link in a browser and confirm the code:\n\n    ${link}\n\n    ${userCode}\n\n`);
        if (options.qr ?? terminal.errIsScreen) terminal.out(`${renderUnicodeCompact(link, { border: 2 })}\n`);
      }
    },
    onWait: (remainingMs, problem) => (waits || problem !== undefined) && progress.waiting(remainingMs, problem),
  }).finally(progress.end);

  writeCredentials(home, refreshToken);
  writeConfig(home, {
    server,
    device_id: deviceId,
    hostname,
    name: device.name,
    agent_type: device.agentType,
    registered_at: new Date().toISOString(),
    // An allowed folder is not asked about again at every start.
    ...(travelsInClear(server) ? { insecure: true } : {}),
    ...(agent ? { agent } : {}),
    ...(further.length > 0 ? { further } : {}),
    // Saved, so that a later start from another folder opens nothing more.
    allow: (options.allow ?? [project]).map((folder) => resolve(fromHome(folder))),
    project,
    ...(maxAgents === undefined ? {} : { max_agents: maxAgents }),
    ...(options.askAtDesk ? { ask_at_desk: true } : {}),
    ...(options.fullAccess === false ? { full_access: false } : {}),
    ...(options.filesOutside ? { files_outside: true } : {}),
    ...(options.filesOut === false ? { files_out: false } : {}),
    ...(desk === undefined || desk === 'full' ? {} : { desk }),
    ...(detail === 'full' ? {} : { transcript: detail }),
    ...(thoughts ? {} : { thoughts: 'off' }),
    ...files,
    ...(options.hide === undefined ? {} : { hide: options.hide }),
    ...(options.show === undefined ? {} : { show: options.show }),
  });
  if (options.json) say({ event: 'registered', device_id: deviceId, server, config: home.configFile });
  else {
    terminal.out(`Registered as device ${deviceId}.\n`);
    if (options.agent === 'auto') terminal.out(`${chosenSentence(agent?.preset)}\n`);
    if (further.length > 0) terminal.out(`Apps can also choose ${titlesOf(further)}.\n`);
    terminal.out(`Agents may work in ${(options.allow ?? [project]).join(', ')}; --allow names other folders.\n`);
    terminal.out(`${filesSentence({ ...files, transcript: detail, allow: options.allow ?? [project] })}\n`);
    terminal.out('Next: relay-daemon up\n');
  }
  return exitCodes.ok;
}

const titlesOf = (choices: readonly AgentChoice[]) =>
  choices.map(({ preset = '' }) => presetOf(preset)?.title ?? 'the demonstration').join(', ');

function chosenSentence(name: string | undefined): string {
  const preset = presetOf(name ?? '');
  if (preset) return `Agent: ${preset.title}, which is installed here.`;
  return 'Agent: the demonstration, because no known agent is installed here ("relay-daemon agents" shows them).';
}

function refuseIfRegistered(home: ReturnType<typeof homeOf>): void {
  const config = readConfig(home);
  if (!config) return;
  throw new Failure(
    'ALREADY_REGISTERED',
    `This machine is registered at ${config.server} as device ${config.device_id}. Run "relay-daemon unregister" first, or use --force (the old device then stays listed at the relay).`,
    exitCodes.alreadyRegistered,
  );
}

function checkDevice({ hostname, agentType, name }: { hostname: string; agentType: string; name: string }): void {
  const refuse = (why: string) => new Failure('BAD_OPTION', why, exitCodes.usage);
  if (!new RegExp(agentTypePattern).test(agentType)) {
    throw refuse(
      `--agent-type "${agentType}" must be lower-case letters, digits, "_" or "-", at most 64, such as claude_code.`,
    );
  }
  if (hostname === '' || hostname.length > limits.hostnameCharacters) {
    throw refuse(`--hostname must have 1 to ${limits.hostnameCharacters} characters.`);
  }
  if (name === '' || name.length > limits.nameCharacters) {
    throw refuse(`--name must have 1 to ${limits.nameCharacters} characters.`);
  }
}

/** On a screen one line that counts down, elsewhere a dot per poll; with --json nothing but problems. */
function progressOn({ err, overwrite, errIsScreen }: Terminal, json: boolean) {
  let open = false;
  let printed: string | undefined;
  const breakLine = () => {
    if (open) err('\n');
    open = false;
  };
  return {
    waiting(remainingMs: number, problem?: string) {
      if (problem !== undefined && problem !== printed) {
        breakLine();
        err(`${problem} Trying again.\n`);
      }
      printed = problem;
      if (json) return;
      const seconds = Math.round(remainingMs / 1000);
      const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
      if (errIsScreen) overwrite(`Waiting for confirmation, ${left} left … `);
      else err(open ? '.' : 'Waiting for confirmation …');
      open = true;
    },
    end: breakLine,
  };
}
