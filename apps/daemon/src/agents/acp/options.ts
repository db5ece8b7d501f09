/** The settings of an ACP agent, and its time limits. */
import type { UsageLimit } from '@relay/protocol';
import type { Clock, Holders, Log } from '@relay/daemon-kit';
import { killTimings } from '../process-group.ts';
import type { ProjectRules } from '../project.ts';
import type { AskAtDesk } from './at-desk.ts';
import type { ConversationTimings } from './conversation.ts';
import type { Quirks } from './presets.ts';
import type { AgentProcessTimings, startAgentProcess } from './process.ts';

export interface AcpOptions {
  program: string;
  args: readonly string[];
  /** Added to the environment of the daemon. */
  env?: Readonly<Record<string, string>>;
  rules: ProjectRules;
  quirks?: Quirks;
  /** Advice for a person who is not logged in at the agent. */
  login?: string;
  /** The method of `authenticate` that the person chose; default: any that needs no person. */
  authMethod?: string | undefined;
  /** Mode that every session is put into (`session/set_mode`). */
  mode?: string | undefined;
  /**
   * Marks the processes of this daemon, so that a crash leaves no process running. Equal after a restart, and unique to
   * this daemon.
   */
  marker: string;
  /** File with the pids of live processes; at the start the daemon kills the processes that an earlier daemon left. */
  pidFile?: string;
  maxProcesses?: number;
  /** Its sessions are read by their replay (`listing.ts`), which gives messages their names. */
  listed?: boolean;
  /** The limits of the plan in the agent's own file of a session, where it reports them nowhere else. */
  limitsOf?: ((sessionId: string) => readonly UsageLimit[]) | undefined;
  /** Permissions are answered at this machine only. */
  askAtDesk?: AskAtDesk | undefined;
  /** Apps neither see nor choose modes that never ask. `askAtDesk` includes this. */
  noFullAccess?: boolean | undefined;
  /** Programs beside the daemon that have sessions of the agent open. */
  holders?: Holders | undefined;
  /** Whether the agent read a message that it took into its turn, where that can be seen; undefined: not known. */
  wasRead?: ((sessionId: string, message: string) => boolean | undefined) | undefined;
  clock?: Clock;
  /** Starts the agent. Default: as a process. */
  startProcess?: typeof startAgentProcess;
  timings?: Partial<AcpTimings>;
  log?: Log;
}

export interface AcpTimings extends AgentProcessTimings, ConversationTimings {
  /** A conversation without a turn and without a question keeps its process this long; always with the quirk `neverReload`. */
  idleMs: number;
}

export const acpTimings: AcpTimings = {
  ...killTimings,
  initializeMs: 60_000,
  loginMs: 20_000,
  openMs: 60_000,
  exitMs: 1500,
  leaveMs: 2000,
  cancelMs: 10_000,
  questionMs: 86_400_000,
  quietMs: 2000,
  steerMs: 10_000,
  steeredQuietMs: 3000,
  idleMs: 300_000,
};
