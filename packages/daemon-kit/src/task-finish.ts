/**
 * Settles a task exactly once: in the history and the journal before the result is sent to the relay. A task that settled with a
 * question can continue when its agent withdraws the question.
 */
import { reasonOf } from '@relay/machine';
import { settledWithin } from './clock.ts';
import type { RunningTurn } from './agent.ts';
import type { Task, TasksOptions } from './task.ts';
import { type End, type FailedEnd, endingOf, failed, frameOf, isUnwritable, noted, wordsOf } from './task-ends.ts';
import type { Outgoing } from './outgoing.ts';
import type { Lines } from './task-lines.ts';
import type { TaskQuestions } from './task-questions.ts';
import { notKept } from './transcript/endings.ts';

/** The tasks of a daemon, as its parts share them. */
export interface TaskRoom extends TasksOptions {
  /** Unsettled tasks, by id. */
  tasks: Map<string, Task>;
  lines: Lines<Task>;
  /** Tasks whose turn continues after the agent withdrew their question, by session. */
  resumed: Map<string, Task>;
  taskQuestions: TaskQuestions;
  outgoing: Outgoing;
  /** How tasks fail while the daemon is stopping. */
  stopped: FailedEnd | undefined;
}

export interface Finish {
  /** Settles a task; does nothing for a settled one. */
  finish: (task: Task, end: End) => void;
  /** Writes, keeps and sends the result of a task, also for a task of a crashed process. */
  conclude: (task: Pick<Task, 'id' | 'sessionId'>, end: End) => void;
  /** Its turn continues without the question of the task. */
  withdrawn: (task: Task, why: string, uuid: string | undefined) => void;
  /** Leaves a task whose turn continues without its question: it has no further result. */
  leave: (task: Task) => void;
  /** Fails each task with ERROR whose question depends on a turn of this process, which stops. */
  dropQuestions: (why: string) => void;
}

export function createFinish(room: TaskRoom): Finish {
  const { agent, store, transcripts, journal, questions, voice, log, clock, timings } = room;
  const { tasks, lines, resumed, taskQuestions } = room;

  const linger = async (turn: RunningTurn) => {
    if (!(await settledWithin(clock, timings.lingerMs, turn.ended))) await turn.cancel();
  };

  const conclude: Finish['conclude'] = ({ id, sessionId }, end) => {
    const lost = transcripts.lost(sessionId);
    const settled = lost === undefined ? end : noted(end, notKept(lost));
    let frame = frameOf(id, sessionId, settled);
    try {
      if (store.has(sessionId)) frame.message_uuid = transcripts.end(id, sessionId, endingOf(frame, settled));
    } catch (error) {
      log.warn('history not written', { session: sessionId, why: reasonOf(error) });
      const isReported = lost !== undefined || isUnwritable(end);
      if (!isReported) frame = frameOf(id, sessionId, noted(end, notKept(reasonOf(error))));
    }
    journal.ended(frame);
    if (frame.event_type === 'WAIT_FOR_USER') {
      const labels = (frame.options ?? []).map(({ label }) => label);
      questions.opened(sessionId, { taskId: id, prompt: frame.prompt, labels });
    } else questions.over(id);
    log.info('task ended', { task: id, session: sessionId, end: end.type });
    log.speech('agent said', { task: id, text: wordsOf(frame) });
    voice.final(frame);
  };

  /** Files that the agent left for people. A failure costs the files alone. */
  const offer = ({ sessionId, files = [] }: Task, end: End) => {
    try {
      room.outgoing.end(sessionId, end.type !== 'WAIT_FOR_USER');
      if (end.type === 'TASK_COMPLETE') for (const id of files) room.incoming.drop(id);
    } catch (error) {
      log.warn('files not offered', { session: sessionId, why: reasonOf(error) });
    }
  };

  return {
    conclude,
    finish(task, end) {
      if (task.phase === 'over') return;
      const ran = task.phase === 'running' || task.phase === 'resumed';
      task.phase = 'over';
      task.hasQuestion = end.type === 'WAIT_FOR_USER';
      if (resumed.get(task.sessionId) === task) resumed.delete(task.sessionId);
      if (ran) offer(task, end);
      // History and journal first: a reported result must survive this process.
      conclude(task, end);
      tasks.delete(task.id);
      voice.status();
      voice.activity(task.sessionId, end.type === 'TASK_COMPLETE');
      // `turn` is not set yet if the agent reports its result while it starts; such a turn finishes by itself.
      if (task.turn) void linger(task.turn);
      if (!ran && !task.opening) lines.drop(task);
    },
    withdrawn(task, why, uuid) {
      if (task.phase !== 'over' || !task.hasQuestion || room.stopped !== undefined) return;
      task.phase = 'resumed';
      resumed.set(task.sessionId, task);
      room.outgoing.begin(task.sessionId, true);
      questions.gone(task.sessionId, why);
      taskQuestions.supersede(task.sessionId, uuid);
      log.info('question withdrawn', { task: task.id, session: task.sessionId });
    },
    leave(task) {
      resumed.delete(task.sessionId);
      room.outgoing.leave(task.sessionId);
      task.phase = 'over';
      task.hasQuestion = false;
    },
    dropQuestions(why) {
      if (!agent.holdsQuestions) return;
      for (const { sessionId, taskId } of questions.waiting()) {
        questions.gone(sessionId, why);
        taskQuestions.supersede(sessionId);
        // No task waits for the answer to a question of a turn of the agent's own.
        if (taskId === '') {
          questions.forget(sessionId);
          continue;
        }
        const lost = failed('question_lost');
        conclude({ id: taskId, sessionId }, { ...lost, error: `${why} ${lost.error}` });
      }
    },
  };
}
