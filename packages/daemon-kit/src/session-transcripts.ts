/** The transcripts of the tasks, joined with the agent's own records. */
import type { Agent } from './agent.ts';
import { systemClock } from './clock.ts';
import { keepingIn } from './contents.ts';
import { type DaemonOptions, daemonTimings } from './daemon-options.ts';
import type { DaemonFiles } from './files.ts';
import type { Link } from './link.ts';
import { silentLog } from './log.ts';
import { type Joined, type Outside, joinOutside } from './outside.ts';
import { type TranscriptSettings, type Transcripts, createTranscripts } from './transcript/transcripts.ts';

export function openTranscripts({
  options: { clock = systemClock, log = silentLog, timings, exchange },
  files: { store, contents },
  agent,
  outside,
  settings,
  link: { send, sendsTranscript, sendsPrompts },
  isActive,
  isWatched,
  onClosed,
}: {
  options: DaemonOptions;
  files: DaemonFiles;
  agent: Agent;
  outside: Outside | undefined;
  settings: TranscriptSettings;
  link: Link;
  /** Whether one of our turns runs in the session. */
  isActive: (sessionId: string) => boolean;
  isWatched: (sessionId: string) => boolean;
  /** A question of a session closed without an answer. */
  onClosed: (uuid: string) => void;
}): { transcripts: Transcripts; joined: Joined } {
  const idOf = (sessionId: string) =>
    agent.nameOf ? agent.nameOf(sessionId) : agent.messageName && agent.messageName.bind(agent);

  const transcripts = createTranscripts({
    store,
    contents,
    readFile: exchange?.sends && settings.detail !== 'off' ? exchange.read : undefined,
    clock,
    settings,
    joinMs: timings?.joinMs ?? daemonTimings.joinMs,
    idOf,
    frames: () => (sendsTranscript() ? (frame) => send(frame, true) : undefined),
    send: (event) => void (sendsTranscript() && send(event)),
    closed(sessionId, taskId, uuid, state) {
      const about = { type: 'event', task_id: taskId, session_id: sessionId } as const;
      const status = isActive(sessionId) ? 'active' : 'idle';
      if (sendsPrompts()) send({ ...about, event_type: 'PROMPT_CLOSED', uuid, state, status });
      onClosed(uuid);
    },
    keepsQuestions: agent.holdsQuestions !== true,
    isWatched,
    log,
  });
  const joined = joinOutside({
    store,
    outside,
    settingsOf: (sessionId, cwd) => ({
      sessionId,
      cwd,
      idOf: idOf(sessionId),
      detail: settings.detail === 'outline' ? 'outline' : 'full',
      thoughts: settings.thoughts,
    }),
    keepOf: (sessionId) => keepingIn(contents, sessionId),
    isBusy: isActive,
    onWritten: transcripts.written,
  });
  return { transcripts, joined };
}
