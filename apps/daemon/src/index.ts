/** The door of the daemon for whoever runs it inside their own process: tests, tours, other programs. */
export { createDaemon, type Daemon, type DaemonOptions, type DaemonState, type DaemonTimings } from './daemon.ts';
export type { Agent, Question, RunningTurn, Turn, TurnReport } from './agents/agent.ts';
export { scriptedAgent } from './agents/scripted.ts';
export { type Script, type ScriptTurn, type Step, demoScriptFile, parseScript, readScript } from './agents/script.ts';
export { type CommandOptions, type CommandTimings, commandAgent } from './agents/command.ts';
export { type HistoryMessage, type Page, type PageRequest, type PageResult, pageOf } from './history.ts';
export { type Clock, systemClock } from './clock.ts';
export { type Log, createLog, silentLog } from './log.ts';
export type { Stop, StopReason } from './reconnect.ts';
