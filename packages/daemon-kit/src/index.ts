/**
 * Everything of a daemon but the agent: give `createDaemon` a relay, a credential, a folder and an `Agent`, and it keeps the
 * connection, the tasks, the history and the reports. Knows the protocol, and no agent but the scripted one.
 */
export { daemonSocketAddress, serverAddress } from './address.ts';
export type {
  Agent,
  AskedAtDesk,
  DeskAsker,
  GivenFile,
  Opened,
  Opening,
  Question,
  ReachedLimit,
  RunningTurn,
  Steer,
  Steered,
  Turn,
  TurnReport,
} from './agent.ts';
export { type DeviceCode, type PollAnswer, type RelayApi, createApi } from './api.ts';
export { type Fields, listOf, pieceOf, recordOf, textOf, wordsOf } from './transcript/content.ts';
export { type Effect, type Mapper, cancelledUpdate, createMapper, stoppedUpdate } from './transcript/mapper.ts';
export { typedInTerminal } from './transcript/words.ts';
export type { Detail } from './transcript/mapper-options.ts';
export type { PastUpdate } from './transcript/replay.ts';
export { wordsEnd } from './transcript/splitter.ts';
export { present } from './transcript/calls.ts';
export { linesOf } from './transcript/diff.ts';
export { bareTitle, below, commandOf, subjectOf } from './transcript/tool.ts';
export { type TranscriptSettings, transcriptSettings } from './transcript/transcripts.ts';
export { fieldBytes, firstLine, keepHead, keepTail, tailOf } from './bounds.ts';
export { type Cancel, type Clock, elapsedOn, pause, settledWithin, systemClock } from './clock.ts';
export { createDaemon } from './daemon.ts';
export type { Daemon, DaemonOptions, DaemonState, DaemonTimings } from './daemon-options.ts';
export { exitCodes } from './exit-codes.ts';
export type { FileExchange } from './exchange.ts';
export { numbered, safeFileName } from './file-names.ts';
export type { Browse } from './folders.ts';
export type { Ended, Holders } from './holders.ts';
export { FilesRefused, type FileQuestion, type SessionPlace, type Workspace } from './changes.ts';
export { type HistoryMessage, type Page, type PageRequest, type PageResult, pageOf } from './history.ts';
export { type Log, type LogOptions, createLog, silentLog } from './log.ts';
export type { Outside, OutsidePart, OutsideSession } from './outside.ts';
export { outputStream, tail } from './output.ts';
export { type OwnText, ownText } from './own-texts.ts';
export { makePrivateFolder } from './private-folder.ts';
export { chosen, named } from './questions.ts';
export type { Stop } from './reconnect.ts';
export { type Registration, register } from './register.ts';
export { type SessionSummary, type Store, openStore } from './store.ts';
export { maxAgentsDefault } from './task.ts';
export { unusableId } from './task-arrivals.ts';
export { fill } from './scripted/placeholders.ts';
export { type Script, type Step, parseScript, readScript } from './scripted/script.ts';
export type { FurtherAgent } from './several-agents.ts';
export { SettingRefused } from './settings.ts';
export { type Choice, type SessionChoices, SettingNotApplied } from './agent.ts';
export { scriptedAgent } from './scripted/scripted.ts';
