/** The way of a task from its frame to its place in the line of its session. Each task is accepted once, however often it arrives. */
import { randomUUID } from 'node:crypto';
import { type ToDaemon, isNativeId, limits } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { keepHead } from './bounds.ts';
import { SettingNotApplied } from './agent.ts';
import { maxTasks } from './own-texts.ts';
import type { Task, TaskAnswer, Tasks } from './task.ts';
import {
  missingAgent,
  missingFile,
  noFiles,
  noImages,
  tooLate,
  tooMany,
  unanswerable,
  unknownSession,
  unreadSession,
  unwritable,
} from './task-ends.ts';
import type { Finish, TaskRoom } from './task-finish.ts';

const maxRememberedIds = 10_000;

interface Arrivals extends Pick<Tasks, 'start' | 'resume'> {
  /** Notes the id of a task. Returns false when it was noted before. */
  remember(taskId: string): boolean;
  isNoted(taskId: string): boolean;
}

export function createArrivals(room: TaskRoom, finish: Finish['finish']): Arrivals {
  const { agent, controls, store, journal, questions, voice, log, lines, tasks, taskQuestions } = room;
  const { remember, isNoted } = createNotedIds();

  const accept = (task: Task) => {
    tasks.set(task.id, task);
    journal.began(task.id, task.sessionId);
    voice.status();
    log.info('task accepted', { task: task.id, session: task.sessionId });
    log.speech('user said', { task: task.id, text: task.message });
  };

  /** Fails a task that cannot get a place. Returns whether it did. */
  const refused = (task: Task): boolean => {
    const takes = task.images.length === 0 || agent.capabilities?.includes('images') === true;
    // Tasks that arrive during shutdown also fail with ERROR, so their outcome is never unknown.
    if (room.stopped !== undefined) finish(task, room.stopped);
    else if (tasks.size > maxTasks) finish(task, tooMany);
    else if (!takes) finish(task, noImages);
    else if (!takesFiles(task)) finish(task, noFiles);
    else if (!room.incoming.find(task.files ?? [])) finish(task, missingFile);
    else return false;
    return true;
  };

  const takesFiles = ({ files = [] }: Task) =>
    files.length === 0 || (room.exchange !== undefined && agent.capabilities?.includes('files') === true);

  const enqueue = (task: Task) => {
    if (!refused(task)) lines.enqueue(task);
  };

  /** The agent names the conversation; until then the task lacks a session. */
  const open = async (task: Task, opening: AbortController) => {
    task.opening = opening;
    let sessionId: string;
    let path = task.projectPath;
    let started: ReturnType<typeof controls.forNew>;
    try {
      const beginning = controls.forNew(task.agentType, task);
      const opened = await agent.open?.({
        taskId: task.id,
        ...beginning,
        agentType: task.agentType,
        projectPath: task.projectPath,
        signal: opening.signal,
        process: (pid) => journal.process(task.id, pid),
      });
      if (!opened || !isNativeId(opened.sessionId)) throw new Error(unusableId(opened?.sessionId ?? ''));
      sessionId = opened.sessionId;
      path = opened.projectPath ?? path;
      started = beginning;
    } catch (error) {
      const code = error instanceof SettingNotApplied ? { code: error.code } : {};
      return finish(task, { type: 'ERROR', error: reasonOf(error), ...code });
    } finally {
      delete task.opening;
      if (task.phase === 'over') lines.drop(task);
    }
    if (task.phase === 'over') return;
    task.sessionId = sessionId;
    task.projectPath = path;
    journal.began(task.id, sessionId);
    begin(task, started);
  };

  /** The session has its name: it is sent to the relay and saved, and the first turn runs. */
  const begin = (task: Task, started?: ReturnType<typeof controls.forNew>) => {
    task.phase = 'queued';
    try {
      if (!store.has(task.sessionId)) store.create(task.sessionId, task.projectPath, 0, task.agentType);
    } catch (error) {
      return finish(task, unwritable(reasonOf(error)));
    }
    if (started) {
      controls.begun(task.sessionId, task.agentType, started);
      controls.keep(task.agentType, task.settings);
      delete task.settings;
    }
    voice.event({ type: 'event', event_type: 'SESSION_STARTED', task_id: task.id, session_id: task.sessionId });
    enqueue(task);
  };

  /** Local messages come before the messages of this task. */
  const takeUp = ({ sessionId }: Task) => {
    try {
      room.sync?.(sessionId);
    } catch (error) {
      log.warn('local session not read', { session: sessionId, why: reasonOf(error) });
    }
  };

  const isMissing = (agentType: string | undefined) => agentType !== undefined && room.offers?.(agentType) !== true;

  const continued = (task: Task, unread?: string) => {
    const session = store.session(task.sessionId);
    if (!session) return finish(task, unread === undefined ? unknownSession : unreadSession(unread));
    if (isMissing(session.agentType)) return finish(task, missingAgent(session.agentType!));
    task.projectPath ||= session.projectPath;
    enqueue(task);
  };

  return {
    remember,
    isNoted,
    start(frame) {
      const { task_id: id, instruction: message, project_path: projectPath = '', images = [] } = frame;
      const { message_uuid: messageUuid, agent_type: agentType, settings, restricted, files } = frame;
      if (!remember(id)) return;
      const named = agent.open === undefined;
      const sessionId = named ? randomUUID() : '';
      const phase = named ? 'queued' : 'opening';
      const chosen = { settings, restricted, files };
      const task: Task = { id, sessionId, message, images, projectPath, messageUuid, agentType, ...chosen, phase };
      accept(task);
      if (isMissing(agentType)) return finish(task, missingAgent(agentType!));
      if (named) return begin(task);
      // A task that arrives during shutdown, or exceeds the limit, opens nothing.
      if (!refused(task)) lines.whenRoom(task, () => void open(task, new AbortController()));
    },
    resume(frame) {
      const { task_id: id, session_id: sessionId, message, project_path: projectPath = '' } = frame;
      if (!remember(id)) return;
      const answer = answerOf(frame);
      const isGone = answer !== undefined && !taskQuestions.isOpen(sessionId, answer.question, answer.digest);
      // Text for a closed question is a message; text without a question name must not choose an option either.
      const refusal = answer === undefined ? questions.refusal(sessionId, message) : undefined;
      if (refusal !== undefined || (isGone && answer.isChoice)) {
        const late: Task = { id, sessionId, message: '', images: [], projectPath, phase: 'queued' };
        accept(late);
        return finish(late, refusal === undefined ? tooLate : unanswerable(refusal));
      }
      const wait = room.bring?.(sessionId);
      const task = resumedTask(frame, answer, wait ? 'opening' : 'queued');
      if (!wait) takeUp(task);
      accept(task);
      if (!wait) return continued(task);
      void wait.then((unread) => {
        if (task.phase === 'over') return;
        task.phase = 'queued';
        takeUp(task);
        continued(task, unread);
      });
    },
  };
}

/** The ids of the newest tasks. */
function createNotedIds(): Pick<Arrivals, 'remember' | 'isNoted'> {
  const seen = new Set<string>();
  return {
    remember(taskId) {
      if (seen.has(taskId)) return false;
      seen.add(taskId);
      const [oldest] = seen;
      if (seen.size > maxRememberedIds && oldest !== undefined) seen.delete(oldest);
      return true;
    },
    isNoted: (taskId) => seen.has(taskId),
  };
}

/** The task of a message to a session that exists. */
function resumedTask(frame: ToDaemon<'task_resume'>, answer: TaskAnswer | undefined, phase: Task['phase']): Task {
  const { task_id: id, session_id: sessionId, message, project_path: projectPath = '', images = [] } = frame;
  const { message_uuid: messageUuid, desk, steer, settings, restricted, files } = frame;
  // An answer continues the turn unchanged.
  const chosen = { restricted, files, ...(answer === undefined ? { settings } : {}) };
  return { id, sessionId, message, images, projectPath, messageUuid, answer, desk, steer, ...chosen, phase };
}

/** The answer in a message; undefined if it names no question. */
function answerOf(frame: ToDaemon<'task_resume'>): TaskAnswer | undefined {
  const { prompt_uuid: question, option_id: option, fields, digest, answered_on: on } = frame;
  if (question === undefined) return undefined;
  const given = { ...(option === undefined ? {} : { option }), ...(fields === undefined ? {} : { fields }) };
  return { question, ...given, digest, on, isChoice: option !== undefined || fields !== undefined };
}

/** The reason why a conversation with this id of the agent cannot be used at a relay (rules, 1.7). */
export const unusableId = (sessionId: string): string =>
  sessionId === ''
    ? 'The agent gave the conversation no id.'
    : `The agent gave the conversation an id that no relay accepts (“${keepHead(sessionId, 80)}”): it begins with PENDING-, or has more than ${limits.idCharacters} characters. Nothing was sent to the agent.`;
