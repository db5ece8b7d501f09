/** `relay-daemon agents`: lists the known agents, whether they are installed here, and their versions. */
import type { Terminal } from '@relay/machine';
import { type Preset, installCommand, presets, testedVersion, versionOf } from '../agents/acp/presets.ts';
import { findProgram } from '../agents/programs.ts';
import { exitCodes } from '@relay/daemon-kit';
import type { CommonOptions } from './place-options.ts';

interface FoundAgent {
  preset: Preset;
  /** The path of its program; undefined when it is not installed. */
  path: string | undefined;
  /** undefined when it was not installed from the npm package. */
  version: string | undefined;
}

function findAgents(env: NodeJS.ProcessEnv): FoundAgent[] {
  return presets.map((preset) => {
    const path = findProgram(preset.command, env);
    return { preset, path, version: path === undefined ? undefined : versionOf(preset, path) };
  });
}

export function agentsCommand(options: CommonOptions, terminal: Terminal): number {
  const found = findAgents(terminal.env);
  if (options.json) {
    const agents = found.map(({ preset, path, version }) => ({
      name: preset.name,
      title: preset.title,
      tier: preset.tier,
      installed: path !== undefined,
      path,
      version,
      tested: testedVersion(preset),
      install: installCommand(preset),
      neverAsks: preset.quirks?.neverAsks === true,
    }));
    terminal.out(`${JSON.stringify({ agents })}\n`);
    return exitCodes.ok;
  }
  for (const { preset, path, version } of found) {
    const state = path === undefined ? 'not installed' : `${version ?? 'unknown version'}, ${path}`;
    terminal.out(`${preset.name.padEnd(12)} ${preset.title.padEnd(20)} ${state}\n`);
    if (preset.quirks?.neverAsks) terminal.out(`${' '.repeat(34)}runs every command without asking\n`);
    if (path === undefined) terminal.out(`${' '.repeat(34)}${installCommand(preset)}\n`);
    else if (version !== testedVersion(preset)) terminal.out(`${' '.repeat(34)}tested with ${testedVersion(preset)}\n`);
  }
  terminal.out(`${'demo'.padEnd(12)} ${'Demonstration'.padEnd(20)} built in, has no model\n`);
  terminal.out(
    '\nUse one with "relay-daemon register --agent <name>". Any other agent that speaks ACP: --agent-command "program --acp".\n',
  );
  return exitCodes.ok;
}
