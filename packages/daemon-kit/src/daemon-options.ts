/** The options of a daemon, and the state that it shows. */
import type { Agent } from './agent.ts';
import type { Clock } from './clock.ts';
import { type ConnectionTimings, type createConnection, connectionTimings } from './connection.ts';
import type { Workspace } from './changes.ts';
import type { FileExchange } from './exchange.ts';
import type { Browse } from './folders.ts';
import type { InboundCounts } from './inbound.ts';
import type { Log } from './log.ts';
import type { Outside } from './outside.ts';
import type { Stop } from './reconnect.ts';
import type { FurtherAgent } from './several-agents.ts';
import { type TaskTimings, taskTimings } from './task.ts';
import type { TranscriptSettings } from './transcript/transcripts.ts';

export interface DaemonTimings extends ConnectionTimings, TaskTimings {
  /** Between `report_sessions` frames. */
  reportIntervalMs: number;
  /** Between checks of the watched sessions that the agent keeps by itself. */
  watchIntervalMs: number;
  /** The interval between checks of the programs that have sessions open. */
  deskIntervalMs: number;
  /** How long changes of a transcript are collected before they are sent. */
  joinMs: number;
  /** The time that a stopping daemon gives the relay to receive the last frames. */
  farewellMs: number;
}

export interface DaemonOptions {
  /** Base address of the relay, http or https. */
  server: string;
  deviceId: string;
  refreshToken: string;
  agentType: string;
  agent: Agent;
  /** Access to the sessions that the agent keeps by itself: sessions started locally are then reported, and can be continued. */
  outside?: Outside;
  /** Shows apps the folders where a session can start. If absent, apps see no folders. */
  browse?: Browse | undefined;
  /** Shows apps the files of sessions. */
  workspace?: Workspace | undefined;
  /** Takes files of people for agents that declare `files`, and offers files of agents. */
  exchange?: FileExchange | undefined;
  /** Name and version of the agent, for people. */
  product?: { name?: string; version?: string } | undefined;
  /** Further agents that a person can choose, each with the sessions it began. Default: no further agents. */
  further?: readonly FurtherAgent[] | undefined;
  /** Folder of history and journal. Created if needed; never shared by two daemons. */
  storeDir: string;
  /** The value of `X-Daemon-Version`. */
  daemonVersion: string;
  /** Maximum number of tasks that run at the same time; the rest wait in order. Default 8. */
  maxAgents?: number | undefined;
  /** The part of a transcript that is sent to a relay that accepts it. Default: everything. */
  transcript?: Partial<TranscriptSettings> | undefined;
  timings?: Partial<DaemonTimings>;
  clock?: Clock;
  /** Connects to the relay. Default: by WebSocket. */
  connect?: typeof createConnection;
  /** Returns a number in [0, 1); spreads the reconnects. */
  random?: () => number;
  log?: Log;
  /** After every change of the connection or of the running tasks. */
  onChange?: (state: DaemonState) => void;
}

export interface DaemonState {
  connection: 'idle' | 'connecting' | 'connected' | 'waiting' | 'stopped';
  /** When the connection entered this state, ISO 8601. */
  since: string;
  /** When it was last open, ISO 8601. */
  lastConnectedAt?: string;
  /** The reason why it is not open. */
  problem?: string;
  /** The time of the next attempt, ISO 8601. */
  nextAttemptAt?: string;
  runningTasks: string[];
}

export interface Daemon {
  /** Reads the folder and begins to connect; reconnects by itself until stopped. Throws when the folder cannot be used. */
  start(): void;
  /**
   * Fails the running tasks with ERROR, sends these results to the relay, and closes. Resolves when the socket and the agents are
   * gone.
   */
  stop(): Promise<void>;
  /** Kills agents at once, because the process is about to exit. */
  abort(): void;
  /** Resolves when the socket is open and `status` and `report_sessions` were written; at once if that is so now. */
  connected(): Promise<void>;
  /** Resolves when the daemon has stopped: on request, or because the relay refused it permanently. */
  ended: Promise<Stop>;
  state(): DaemonState;
  counts(): InboundCounts;
}

export const daemonTimings: DaemonTimings = {
  ...connectionTimings,
  ...taskTimings,
  reportIntervalMs: 30_000,
  watchIntervalMs: 1000,
  deskIntervalMs: 2000,
  farewellMs: 2000,
  joinMs: 250,
};
