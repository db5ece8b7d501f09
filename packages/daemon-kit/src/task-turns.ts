/** The turn of a task: whether its answer still fits, the start of its agent, and the next task of the session once it has fully finished. */
import type { TurnReport } from './agent.ts';
import { reasonOf } from './failure.ts';
import type { OwnTurns } from './own-turns.ts';
import { SettingNotApplied } from './agent.ts';
import type { Task } from './task.ts';
import { tooLate, unfit, unseen, unwritable } from './task-ends.ts';
import type { Finish, TaskRoom } from './task-finish.ts';

interface Turns {
  /** Runs the turn of a task that has its place. */
  run(task: Task): void;
}

export function createTurns(
  room: TaskRoom,
  { finish }: Finish,
  {
    told,
    reportOf,
    own,
  }: {
    /** Writes to the transcript, whose loss costs no turn. */
    told: (tell: () => void) => void;
    reportOf: (task: Task) => TurnReport;
    own: Pick<OwnTurns, 'leave' | 'taskOf'>;
  },
): Turns {
  const { agent, controls, transcripts, questions, voice, lines, asked } = room;

  /** Follows a turn until it has fully finished, then lets the next one of the session run. */
  const watch = async (task: Task) => {
    try {
      await task.turn?.ended;
      if (task.phase !== 'resumed') finish(task, { type: 'ERROR', error: 'The agent ended without an answer.' });
    } catch (error) {
      finish(task, { type: 'ERROR', error: `The agent failed: ${reasonOf(error)}` });
    }
    // Items that came after the end are complete now.
    told(() => void transcripts.settle(task.sessionId, 'over'));
    const line = lines.get(task.sessionId);
    line?.shift();
    if (task.asked) {
      // Written before anyone saw the question: it must not be taken for the answer.
      // An answer names its question, so it belongs to the one that the person saw.
      const waiting = line?.splice(0) ?? [];
      for (const next of waiting) if (next.answer) line?.push(next);
      for (const blind of waiting) if (!blind.answer) finish(blind, unseen);
    }
    lines.leave(task);
    lines.advance(task.sessionId);
  };

  /** The answer was refused, and the relay counts the question as answered: it may be answered again. */
  const repeat = (task: Task) => {
    const question = asked.at(task);
    const about = { task_id: task.id, session_id: task.sessionId };
    if (question) voice.asked({ type: 'event', event_type: 'PROMPT_OPEN', ...about, question });
  };

  /** Ends a task whose answer is late or does not fit. Returns whether it did. */
  const refuse = (task: Task): boolean => {
    const { sessionId, answer } = task;
    if (answer && !asked.isOpen(sessionId, answer.question, answer.digest)) {
      // Words are a message, unless it would be taken for the answer to another question.
      if (answer.isChoice || asked.of(sessionId).length > 0) {
        finish(task, tooLate);
        return true;
      }
      delete task.answer;
    }
    const problem =
      task.answer && agent.holdsQuestions && task.images.length > 0
        ? 'An answer cannot contain images: send them after it.'
        : asked.problemOf(task);
    if (problem === undefined) return false;
    finish(task, unfit(problem));
    repeat(task);
    return true;
  };

  /** Ends the turn that holds the questions of this session: no answer to them will come. */
  const dismiss = (sessionId: string) => {
    if (asked.of(sessionId).length === 0) return;
    const asker = questions.waiting().find((one) => one.sessionId === sessionId)?.taskId;
    questions.gone(sessionId, 'it was dismissed.');
    told(() => transcripts.cancel(sessionId));
    asked.supersede(sessionId);
    if (asker === undefined) return;
    if (asker !== '') questions.over(asker);
    agent.abandon?.(own.taskOf(sessionId, asker));
  };

  /** Writes the message into the transcript. Returns whether it is there. */
  const write = (task: Task): boolean => {
    const { id: taskId, sessionId, message, images, projectPath, messageUuid: uuid } = task;
    // The relay has no open question: it was dismissed while we were away, or its answer was lost.
    if (!task.answer && room.namesQuestions()) dismiss(sessionId);
    const isAnswer = agent.holdsQuestions === true && questions.isOpen(sessionId);
    questions.forget(sessionId);
    own.leave(task);
    try {
      const answers = asked.answer(sessionId, message, task.answer);
      transcripts.begin({ taskId, sessionId, message, projectPath, uuid, answers, images }, isAnswer);
      return true;
    } catch (error) {
      finish(task, unwritable(reasonOf(error)));
      return false;
    }
  };

  const start = (task: Task) => {
    const { id: taskId, sessionId, message, images, projectPath } = task;
    try {
      voice.activity(sessionId, false);
      const { question, option, fields } = task.answer ?? {};
      const given = { ...(option === undefined ? {} : { option }), ...(fields === undefined ? {} : { fields }) };
      const answer = question === undefined ? {} : { answer: { question, ...given } };
      const settings = controls.wanted(sessionId, task);
      const turn = {
        taskId,
        sessionId,
        message,
        projectPath,
        ...(images.length > 0 ? { images } : {}),
        ...answer,
        choices: controls.forSession(sessionId),
        ...(settings.length > 0 ? { settings } : {}),
      };
      task.images = [];
      task.turn = agent.start(turn, reportOf(task));
    } catch (error) {
      const refused = error instanceof SettingNotApplied ? { error: reasonOf(error), code: error.code } : undefined;
      finish(task, { type: 'ERROR', error: `The agent could not be started: ${reasonOf(error)}`, ...refused });
    }
  };

  return {
    run(task) {
      task.phase = 'running';
      if (!refuse(task) && write(task)) start(task);
      void watch(task);
    },
  };
}
