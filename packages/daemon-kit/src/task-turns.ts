/** The turn of a task: whether its answer still fits, the start of its agent, and the next task of the session once it has fully finished. */
import { fileLimits } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { type GivenFile, SettingNotApplied, type Turn, type TurnReport } from './agent.ts';
import { givenFiles } from './exchange.ts';
import type { DeskGate } from './desk-gate.ts';
import type { DeskQuestions } from './desk-questions.ts';
import type { OwnTurns } from './own-turns.ts';
import type { Task } from './task.ts';
import { createCapTurns } from './task-caps.ts';
import {
  failed,
  forPerson,
  missingFile,
  tooLargeFiles,
  tooLate,
  unfit,
  unplaced,
  unseen,
  unwritable,
} from './task-ends.ts';
import type { Finish, TaskRoom } from './task-finish.ts';

interface Turns {
  /** Runs the turn of a task that has its place. */
  run(task: Task): void;
  /** Writes the message of a task, and completes its turn without the agent. */
  settle(task: Task, end: () => void): void;
}

interface TurnParts {
  /** Writes to the transcript, whose loss costs no turn. */
  record: (write: () => void) => void;
  reportOf: (task: Task) => TurnReport;
  own: Pick<OwnTurns, 'leave' | 'taskOf'>;
  gate: DeskGate;
  deskQuestions: Pick<DeskQuestions, 'isFor' | 'give'>;
}

export function createTurns(
  room: TaskRoom,
  { finish }: Finish,
  { record, reportOf, own, gate, deskQuestions }: TurnParts,
): Turns {
  const { agent, controls, transcripts, questions, voice, lines, taskQuestions } = room;
  const refuse = createRefusal(room, finish);

  /** Follows a turn until it has fully finished, then lets the next one of the session run. */
  const watch = async (task: Task) => {
    try {
      await task.turn?.ended;
      if (task.phase !== 'resumed') finish(task, failed('agent_unanswered'));
    } catch (error) {
      finish(task, { type: 'ERROR', error: `The agent failed: ${reasonOf(error)}` });
    }
    // Items that came after the result are complete now.
    record(() => void transcripts.settle(task.sessionId, 'over'));
    const line = lines.get(task.sessionId);
    line?.shift();
    if (task.hasQuestion) {
      // The person wrote it before the question was visible: it must not count as the answer. An answer names its question, so it
      // belongs to the question that the person saw.
      const waiting = line?.splice(0) ?? [];
      for (const next of waiting) if (next.answer) line?.push(next);
      for (const blind of waiting) if (!blind.answer) finish(blind, unseen);
    }
    lines.leave(task);
    lines.advance(task.sessionId);
  };

  /** Stops the turn that holds the questions of this session: no answer to them will come. */
  const dismiss = (sessionId: string) => {
    if (taskQuestions.of(sessionId).length === 0) return;
    const asker = questions.waiting().find((one) => one.sessionId === sessionId)?.taskId;
    questions.gone(sessionId, 'it was dismissed.');
    record(() => {
      gate.forget(sessionId);
      transcripts.cancel(sessionId);
    });
    taskQuestions.supersede(sessionId);
    if (asker === undefined) return;
    if (asker !== '') questions.over(asker);
    agent.abandon?.(own.taskOf(sessionId, asker));
  };

  /** Writes the message into the transcript. Returns whether it continues a turn; undefined when it cannot be written. */
  const write = (task: Task): boolean | undefined => {
    const { id: taskId, sessionId, message, images, projectPath, messageUuid: uuid, steer } = task;
    const files = room.incoming.find(task.files ?? []);
    // The relay has no open question: a user dismissed it while this daemon was offline, or its answer was lost.
    if (!task.answer && room.namesQuestions()) dismiss(sessionId);
    const isAnswer = agent.holdsQuestions === true && questions.isOpen(sessionId);
    questions.forget(sessionId);
    own.leave(task);
    try {
      const answers = taskQuestions.answer(sessionId, message, task.answer);
      transcripts.begin({ taskId, sessionId, message, projectPath, uuid, answers, images, files, steer }, isAnswer);
      return isAnswer;
    } catch (error) {
      finish(task, unwritable(reasonOf(error)));
      return undefined;
    }
  };

  /** Puts its files where the agent reads them. Fails a task without them, and returns undefined then. */
  const place = (task: Task): GivenFile[] | undefined => {
    const found = room.incoming.find(task.files ?? []);
    if (!found) return void finish(task, missingFile);
    if (found.length === 0) return [];
    try {
      return givenFiles(room.exchange!, task, found);
    } catch (error) {
      return void finish(task, unplaced(reasonOf(error)));
    }
  };

  const start = (task: Task) => {
    const { message, images } = task;
    try {
      voice.activity(task.sessionId, false);
      const files = place(task);
      if (!files) return;
      room.outgoing.begin(task.sessionId, task.answer !== undefined);
      const turn = { ...turnOf(task, controls), ...(files.length > 0 ? { files } : {}) };
      task.images = [];
      const report: TurnReport = { ...reportOf(task), held: () => gate.ask(task, message, images) };
      task.turn = agent.start(turn, report);
    } catch (error) {
      const refused = error instanceof SettingNotApplied ? { error: reasonOf(error), code: error.code } : undefined;
      finish(task, { type: 'ERROR', error: `The agent could not be started: ${reasonOf(error)}`, ...refused });
    }
  };

  const capTurns = createCapTurns(room, finish, start);

  /** Writes its message once. Fails a task whose answer or message is not possible, and returns false then. */
  const prepare = (task: Task): boolean => {
    if (task.written) return true;
    if (refuse(task)) return false;
    const before = capTurns.answeredBy(task);
    const isAnswer = write(task);
    capTurns.forget(task.sessionId);
    if (isAnswer === undefined) return false;
    capTurns.prepare(task, { isAnswer, before });
    return (task.written = true);
  };

  const settle: Turns['settle'] = (task, end) => {
    task.phase = 'running';
    if (prepare(task)) end();
    void watch(task);
  };

  const begin = (task: Task) =>
    settle(task, () => {
      capTurns.begin(task);
    });

  return {
    settle,
    run(task) {
      // Before anything that waits for the answer is taken.
      if (taskQuestions.isForPerson(task, room.namesQuestions())) return settle(task, () => undefined);
      if (deskQuestions.isFor(task)) return settle(task, () => deskQuestions.give(task));
      const kept = gate.take(task);
      if (kept) {
        task.phase = 'running';
        if (!prepare(task)) return void watch(task);
        capTurns.prepare(task, { isAnswer: false, before: undefined });
        const option = task.answer?.option;
        delete task.answer;
        return gate.decide(task, kept, option, () => begin(task));
      }
      // The answer to a question of the agent continues a turn that runs already.
      if (task.answer && taskQuestions.isOpen(task.sessionId, task.answer.question)) return begin(task);
      gate.pass(task, () => begin(task));
    },
  };
}

/** Refuses answers that are late or do not fit. */
function createRefusal({ agent, taskQuestions, incoming, namesQuestions, voice }: TaskRoom, finish: Finish['finish']) {
  /** The daemon refused the answer, and the relay counts the question as answered: open it again. */
  const repeat = (task: Task) => {
    const question = taskQuestions.at(task);
    const about = { task_id: task.id, session_id: task.sessionId };
    if (question) voice.promptOpened({ type: 'event', event_type: 'PROMPT_OPEN', ...about, question });
  };

  /** Fails a task whose answer is late or does not fit. Returns whether it did. */
  return (task: Task): boolean => {
    const { sessionId, answer } = task;
    if (answer && !taskQuestions.isOpen(sessionId, answer.question, answer.digest)) {
      // Free text is a message, unless it could pass for the answer to another question.
      if (answer.isChoice || taskQuestions.of(sessionId).length > 0) {
        finish(task, tooLate);
        return true;
      }
      delete task.answer;
    }
    if (taskQuestions.isForPerson(task, namesQuestions())) {
      finish(task, forPerson);
      repeat(task);
      return true;
    }
    const found = incoming.find(task.files ?? []);
    const bytes = found?.reduce((sum, file) => sum + file.bytes, 0) ?? 0;
    if (!found || bytes > fileLimits.messageBytes) {
      finish(task, found ? tooLargeFiles : missingFile);
      return true;
    }
    const attached = task.images.length + found.length;
    const problem =
      task.answer && agent.holdsQuestions && attached > 0
        ? 'An answer cannot contain images or files: send them after it.'
        : taskQuestions.problemOf(task);
    if (problem === undefined) return false;
    finish(task, unfit(problem));
    repeat(task);
    return true;
  };
}

/** The turn that the agent starts. @throws SettingNotApplied */
function turnOf(task: Task, controls: TaskRoom['controls']): Turn {
  const { id: taskId, sessionId, message, messageUuid, images, projectPath } = task;
  const { question, option, fields } = task.answer ?? {};
  const given = { ...(option === undefined ? {} : { option }), ...(fields === undefined ? {} : { fields }) };
  const answer = question === undefined ? {} : { answer: { question, ...given } };
  const named = messageUuid === undefined ? {} : { messageUuid };
  const settings = controls.wanted(sessionId, task);
  return {
    taskId,
    sessionId,
    message,
    projectPath,
    ...named,
    ...(images.length > 0 ? { images } : {}),
    ...answer,
    choices: controls.forSession(sessionId),
    ...(settings.length > 0 ? { settings } : {}),
    ...(task.restricted === undefined ? {} : { isSafe: true }),
  };
}
