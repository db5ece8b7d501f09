/**
 * Whether a task can begin its turn: two programs that write one session would split its history, so the turn waits, asks or closes the other
 * program first (rules, 24.4). Knows no agent; the choice of the person comes with the task or as the answer to a question.
 */
import { randomUUID } from 'node:crypto';
import type { Held, Question } from '@relay/protocol';
import type { Cancel } from './clock.ts';
import type { Ended } from './holders.ts';
import { chosen } from './questions.ts';
import type { Task, Tasks } from './task.ts';
import { type End, completed, failed, questionEnd } from './task-ends.ts';
import type { TaskRoom } from './task-finish.ts';
import { notSentUpdate } from './transcript/splitter.ts';

type Choice = 'take' | 'wait' | 'anyway' | 'drop';

/** A message that the daemon asked about instead of sending it. */
interface KeptMessage {
  /** Uuid of the question. */
  question: string;
  message: string;
  images: readonly string[];
  files: readonly string[] | undefined;
  choices: readonly { id: Choice; label: string }[];
  /** The program was working when the daemon asked: closing it interrupts that. */
  stopTurn: boolean;
}

export interface DeskGate {
  /** Runs `go` once no other program has the session of the task open; else it asks, waits or fails the task. */
  pass(task: Task, go: () => void): void;
  /** The same for a task that answers the question about this message. */
  decide(task: Task, kept: KeptMessage, option: string | undefined, go: () => void): void;
  /** Asks about a message that the agent did not get, because a program opened the session since the turn began. */
  ask(task: Task, message: string, images: readonly string[]): void;
  /** The message whose question this task answers; each is returned once. */
  take(task: Task): KeptMessage | undefined;
  /** The question of this session was dismissed. Returns whether a message was kept for it. */
  forget(sessionId: string): boolean;
  /** A task of this session waits until the other program has left. */
  isWaiting(sessionId: string): boolean;
  /** Programs might have left: waiting tasks check again. */
  look(): void;
  /** Closes the program that holds the session. */
  end(sessionId: string, stopTurn: boolean): Promise<Ended>;
  /** Fails every task that waits. */
  stop(): void;
}

interface GateOptions {
  finish: (task: Task, end: End) => void;
  /** Completes a turn without an agent: writes the message, and lets the next task of the session run. */
  settle: (task: Task, end: () => void) => void;
  progress: (task: Task, action: string, target: string) => void;
}

const maxKept = 100;
const maxWaitMs = 86_400_000;
const waitingForDesk = 'Waiting for the desk';

export function createDeskGate(room: TaskRoom, { finish, settle, progress }: GateOptions): DeskGate {
  const { agent, clock, lines, log, timings } = room;
  const { holders } = agent;
  const kept = new Map<string, KeptMessage>();
  const waiting = new Map<Task, { go: () => void; cancel: Cancel }>();
  const ending = new Map<string, Promise<Ended>>();

  const end = (sessionId: string, stopTurn: boolean): Promise<Ended> => {
    const running = ending.get(sessionId);
    if (running || !holders) return running ?? Promise.resolve({ result: 'not_held' });
    const ended = holders.end(sessionId, stopTurn).finally(() => ending.delete(sessionId));
    ending.set(sessionId, ended);
    void ended.then(({ result, program, terminal }) =>
      log.info('release of a session', { session: sessionId, result, program, terminal }),
    );
    return ended;
  };

  /** Asks about the message of the task. */
  const keep = (task: Task, held: Held, message = task.message, images = task.images) => {
    const choices = choicesFor(held);
    const question = randomUUID();
    kept.delete(task.sessionId);
    kept.set(task.sessionId, { question, message, images, files: task.files, choices, stopTurn: isWorking(held) });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    const prompt = questionAbout(held, clock.now());
    const options = choices.map(({ label }) => label);
    const reason = reasonFor(held, clock.now());
    const details = { kind: 'choice', person: true, text: false, prompt, choices, options, reason } as const;
    finish(task, questionEnd({ uuid: question, ...details }));
  };
  const ask = (task: Task, held: Held) => settle(task, () => keep(task, held));

  /** Messages that were written in the other program come first. */
  const takeUp = (sessionId: string) => {
    try {
      room.sync?.(sessionId);
    } catch {
      // The next check reads its history again.
    }
  };

  const close = async (task: Task, stopTurn: boolean, go: () => void) => {
    task.phase = 'queued';
    const { result, detail } = await end(task.sessionId, stopTurn);
    if (task.phase !== 'queued') return;
    const held = holders?.of(task.sessionId);
    if (!held) {
      takeUp(task.sessionId);
      return go();
    }
    if (result === 'busy' || result === 'released') return ask(task, held);
    const code = 'HELD_AT_DESK';
    if (detail === undefined) finish(task, failed('held_cannot_close', { code, name: held.program }));
    else finish(task, { type: 'ERROR', error: `Not sent: ${detail}`, code });
  };

  const wait = (task: Task, go: () => void, since = clock.now()) => {
    task.phase = 'queued';
    lines.leave(task);
    progress(task, waitingForDesk, '');
    const cancel = clock.after(timings.stillWaitingMs, () => {
      if (!waiting.delete(task) || task.phase !== 'queued') return;
      if (clock.now() - since < maxWaitMs) return wait(task, go, since);
      finish(task, failed('held_for_a_day', { code: 'HELD_AT_DESK' }));
    });
    waiting.set(task, { go, cancel });
  };

  const enter = (task: Task, choice: Choice | undefined, stopTurn: boolean, go: () => void) => {
    const held = holders?.of(task.sessionId);
    if (!held || (choice === 'anyway' && !held.sure)) return go();
    if (choice === 'take') return void close(task, stopTurn, go);
    if (choice === 'wait') return wait(task, go);
    ask(task, held);
  };

  return {
    // An agent closes no program: the daemon asks about its message.
    pass: (task, go) => enter(task, task.restricted === 'agent' ? undefined : task.desk, true, go),
    decide(task, { message, images, files, choices, stopTurn }, option, go) {
      const words = task.message;
      const at = chosen(words, choices.map(({ label }) => label)); // prettier-ignore
      const choice = choices.find(({ id }) => id === option)?.id ?? choices[at]?.id;
      if (choice === 'drop') {
        settle(task, () => {
          room.transcripts.update(task.sessionId, notSent);
          finish(task, completed('held_kept'));
        });
        return;
      }
      // Other text does not choose an option: it joins the message, and the daemon asks again.
      Object.assign(task, { message: choice ? message : `${message}\n\n${words}`, images, files });
      enter(task, choice, stopTurn, go);
    },
    ask(task, message, images) {
      const held = holders?.of(task.sessionId);
      if (held) keep(task, held, message, images);
      else finish(task, failed('held_since'));
    },
    take(task) {
      const found = kept.get(task.sessionId);
      const names = task.answer ? task.answer.question === found?.question : !room.namesQuestions();
      if (!found || !names || !room.taskQuestions.isOpen(task.sessionId, found.question)) return undefined;
      kept.delete(task.sessionId);
      return found;
    },
    forget(sessionId) {
      if (!kept.delete(sessionId)) return false;
      room.transcripts.update(sessionId, notSent);
      return true;
    },
    isWaiting: (sessionId) => [...waiting.keys()].some((task) => task.sessionId === sessionId),
    look() {
      for (const [task, { go, cancel }] of [...waiting]) {
        if (task.phase === 'queued' && holders?.of(task.sessionId)) continue;
        cancel();
        waiting.delete(task);
        if (task.phase !== 'queued') continue;
        takeUp(task.sessionId);
        lines.whenRoom(task, () => enter(task, 'wait', false, go));
      }
    },
    end,
    stop() {
      for (const [task, { cancel }] of [...waiting]) {
        cancel();
        waiting.delete(task);
        if (task.phase === 'queued') finish(task, failed('held_restarted', { code: 'HELD_AT_DESK' }));
      }
    },
  };
}

/** The gate as the rest of the daemon uses it. `asks`: the session has an open question. */
export const deskOf = (
  gate: DeskGate,
  isBusy: (sessionId: string) => boolean,
  asks: (sessionId: string) => boolean,
): Pick<Tasks, 'release' | 'deskReason' | 'lookAtDesk'> => ({
  release: (sessionId, stopTurn) => gate.end(sessionId, stopTurn),
  deskReason: (sessionId) =>
    gate.isWaiting(sessionId) ? 'waiting' : isBusy(sessionId) ? 'busy' : asks(sessionId) ? 'question' : undefined,
  lookAtDesk: () => gate.look(),
});

const notSent = { sessionUpdate: notSentUpdate };
const isWorking = ({ state }: Held) => state === 'busy' || state === 'waiting';

function choicesFor(held: Held): KeptMessage['choices'] {
  const drop = { id: 'drop', label: 'Don’t send' } as const;
  const wait = { id: 'wait', label: 'Send when it’s closed there' } as const;
  const take = { id: 'take', label: isWorking(held) ? 'Stop it there and send' : 'Close it there and send' } as const;
  if (!held.sure) return [wait, { id: 'anyway', label: 'Send anyway' }, drop];
  if (!held.ends) return [wait, drop];
  return isWorking(held) ? [wait, take, drop] : [take, wait, drop];
}

const working: Readonly<Record<string, string>> = { busy: ', working', waiting: ', waiting for you' };

const minutesSince = (at: string, nowMs: number) => Math.max(0, Math.round((nowMs - Date.parse(at)) / 60_000));

/** The same question for an app with a language of its own. */
function reasonFor({ state, program, at, sure, ends, why }: Held, nowMs: number): Question['reason'] {
  const code = !sure ? 'held_likely' : why === 'shared' ? 'held_shared' : !ends ? 'held_foreign' : 'held';
  return { code, program, state, ...(state === 'idle' ? { minutes: minutesSince(at, nowMs) } : {}) };
}

function questionAbout({ state, program, at, sure, ends, why }: Held, nowMs: number): string {
  const minutes = minutesSince(at, nowMs);
  const doing = state === 'idle' ? `, idle for ${minutes} min` : (working[state] ?? '');
  if (!sure) return `This session may be open at the desk (${program}). Send when it’s closed there?`;
  if (why === 'shared') return `This session is open in ${program}’s background server. Send when it’s closed there?`;
  if (!ends) return `This session is open in another program (${program}). Send when it’s closed there?`;
  return `This session is open at the desk (${program}${doing}). Close it there and send?`;
}
