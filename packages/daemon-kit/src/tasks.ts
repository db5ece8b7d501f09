/**
 * The tasks of this daemon (specification §3): the life of a task, without any socket. A task is accepted once, runs one turn at
 * a time per session, and settles exactly once: TASK_COMPLETE, WAIT_FOR_USER or ERROR, whatever the agent does. A cancelled task
 * sends no result.
 */
import { type Question as WireQuestion, type DaemonEvent, transcriptLimits } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { fieldBytes, keepHead } from './bounds.ts';
import { settledWithin } from './clock.ts';
import { type Task, type Tasks, type TasksOptions, maxAgentsDefault } from './task.ts';
import { createOutgoing } from './outgoing.ts';
import { createDeskGate, deskOf } from './desk-gate.ts';
import { createDeskQuestions } from './desk-questions.ts';
import { createArrivals } from './task-arrivals.ts';
import { type TaskRoom, createFinish } from './task-finish.ts';
import { createLines } from './task-lines.ts';
import { createSteers } from './steers.ts';
import { createOwnTurns } from './own-turns.ts';
import { createTaskQuestions } from './task-questions.ts';
import { failed } from './task-ends.ts';
import { createReports } from './task-report.ts';
import { createTurns } from './task-turns.ts';

export function createTasks(options: TasksOptions): Tasks {
  const { agent, transcripts, journal, questions, voice, log, clock, timings } = options;

  const progress = ({ id: taskId, sessionId }: Task, action: string, target: string) => {
    const about = { task_id: taskId, ...(sessionId === '' ? {} : { session_id: sessionId }) };
    const [what, to] = [keepHead(action, fieldBytes.progress), keepHead(target, fieldBytes.progress)];
    voice.event({ type: 'event', event_type: 'PROGRESS', ...about, action: what, target: to });
  };
  /** The transcript is secondary to the task: a failed write costs the transcript, not the turn. */
  const record = (write: () => void, task?: Task) => {
    try {
      write();
    } catch (error) {
      const why = reasonOf(error);
      log.warn('transcript not written', { why });
      if (task) progress(task, 'Not saved in the history', why);
    }
  };
  const lines = createLines<Task>({
    maxAgents: options.maxAgents ?? maxAgentsDefault,
    stillWaitingMs: timings.stillWaitingMs,
    clock,
    log,
    run: (task) => turns.run(task),
    report: (task) => progress(task, waitingForPlace, ''),
  });
  const taskQuestions = createTaskQuestions({ ...options, record });
  const outgoing = createOutgoing(options.exchange, options.store, transcripts);
  const about = { taskQuestions, outgoing, stopped: undefined };
  const room: TaskRoom = { ...options, tasks: new Map(), lines, resumed: new Map(), ...about };
  const ends = createFinish(room);
  const reportOf = createReports<Task>({
    ...options,
    event: (event) => voice.event(event),
    promptOpened: (event) => voice.promptOpened(event),
    progress,
    record,
    superseded: taskQuestions.supersede,
    finish: ends.finish,
    stopped(task, { error, spent, cap }) {
      ends.finish(task, { type: 'ERROR', error, code: 'COST_CAP', cost: { spent, cap } });
      void task.turn?.cancel();
    },
    withdrawn: ends.withdrawn,
    dropped: (task, id) => steers.dropped(task, id),
  });
  const own = createOwnTurns({ ...options, taskQuestions }, record);
  agent.onOwnTurn?.(own.begin);
  const gate = createDeskGate(room, { finish: ends.finish, settle: (task, end) => turns.settle(task, end), progress });
  const isBusy = (sessionId: string) => own.runs(sessionId) || room.resumed.has(sessionId) || lines.has(sessionId);
  const deskQuestions = createDeskQuestions({ room, isBusy, record, finish: ends.finish });
  agent.deskAsker?.listen(deskQuestions.ask);
  const turns = createTurns(room, ends, { record, reportOf, own, gate, deskQuestions });
  const arrivals = createArrivals(room, ends.finish);

  const steers = createSteers(room, {
    remember: (taskId) => arrivals.remember(taskId),
    isNoted: (taskId) => arrivals.isNoted(taskId),
    record,
    send: (event, received) => voice.steered(event, received),
  });

  const askerOf = (sessionId: string): string =>
    room.resumed.get(sessionId)?.id ??
    questions.waiting().find((one) => one.sessionId === sessionId)?.taskId ??
    lines.get(sessionId)?.[0]?.id ??
    '';

  /** A cancel that arrives after the result applies to the turn that continues, or to the task's question. */
  const abandon = (taskId: string) => {
    for (const goesOn of [...room.resumed.values()]) if (goesOn.id === taskId) ends.leave(goesOn);
    for (const { sessionId, taskId: asker } of questions.waiting())
      if (own.taskOf(sessionId, asker) === taskId) {
        questions.gone(sessionId, 'it was dismissed.');
        record(() => {
          gate.forget(sessionId);
          transcripts.cancel(sessionId);
        });
        taskQuestions.supersede(sessionId);
        if (asker === '') questions.forget(sessionId);
      }
    questions.over(taskId);
    journal.settled([taskId]);
    agent.abandon?.(taskId);
  };

  return {
    start: arrivals.start,
    resume: arrivals.resume,
    steer: steers.steer,
    cancel(taskId) {
      const task = room.tasks.get(taskId);
      if (task) {
        const wasRunning = task.phase === 'running';
        task.phase = 'over';
        task.opening?.abort();
        room.tasks.delete(taskId);
        journal.settled([taskId]);
        log.info('task cancelled', { task: taskId, session: task.sessionId });
        if (wasRunning || task.written) {
          record(() => {
            outgoing.leave(task.sessionId);
            transcripts.cancel(task.sessionId);
          });
          void task.turn?.cancel();
        }
        if (!wasRunning && !task.opening) lines.drop(task);
      } else abandon(taskId);
      voice.status();
    },
    running: () => [...room.tasks.keys()],
    steering: steers.ids,
    steeredAgain: steers.again,
    asking: () => promptsOf(options.store, askerOf),
    confirmed: (taskId) => questions.confirmed(taskId),
    isActive: (sessionId) =>
      own.runs(sessionId) || room.resumed.has(sessionId) || lines.get(sessionId)?.[0]?.phase === 'running',
    isBusy,
    ...deskOf(gate, isBusy, (sessionId) => taskQuestions.of(sessionId).length > 0),
    questionClosed: (uuid) => deskQuestions.closed(uuid),
    reportWaiting: () => lines.reportWaiting(),
    recover() {
      transcripts.recover();
      for (const { taskId, sessionId, pid } of journal.interrupted) {
        arrivals.remember(taskId);
        if (pid !== undefined) agent.reap?.({ taskId, pid });
        ends.conclude({ id: taskId, sessionId }, failed('daemon_crashed'));
        taskQuestions.supersede(sessionId);
      }
      ends.dropQuestions('The daemon was restarted.');
    },
    async stop(end) {
      room.stopped = end;
      lines.stop();
      gate.stop();
      deskQuestions.stop();
      for (const task of [...room.resumed.values()]) ends.leave(task);
      ends.dropQuestions(end.error);
      const running = [...lines.values()].flatMap(([head]) => (head?.turn ? [head.turn] : []));
      for (const line of lines.values()) line.splice(1);
      for (const task of [...room.tasks.values()]) {
        task.opening?.abort();
        ends.finish(task, end);
      }
      const gone = Promise.all(running.map((turn) => turn.cancel()));
      const closed = gone.then(() => agent.close?.());
      if (!(await settledWithin(clock, timings.stopMs, closed))) agent.abort?.();
    },
  };
}

/** The newest open questions of all sessions, as events. */
const promptsOf = (store: TasksOptions['store'], askerOf: (sessionId: string) => string) =>
  store
    .asking()
    .slice(-transcriptLimits.openPrompts)
    .map(({ sessionId, item }): DaemonEvent<'PROMPT_OPEN'> => ({
      type: 'event',
      event_type: 'PROMPT_OPEN',
      task_id: askerOf(sessionId),
      session_id: sessionId,
      question: item.part.question as WireQuestion,
    }));

const waitingForPlace = 'Waiting for another agent to finish';
