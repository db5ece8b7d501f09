/** The entry point of the daemon for programs that run it inside their own process: tests, tours, others. */
export * from '@relay/daemon-kit';
export { demoScriptFile } from './files.ts';
export { type CommandTimings, commandAgent } from './agents/command.ts';
export { acpAgent } from './agents/acp/agent.ts';
export type { AcpOptions, AcpTimings } from './agents/acp/options.ts';
export { type Preset, presetOf, presets } from './agents/acp/presets.ts';
export { type ProjectRules, projectFolder } from './agents/project.ts';
export { exchangeOf } from './exchange/exchange.ts';
export { workspaceOf } from './changes/workspace.ts';
