/** A turn at an agent, and the task it currently belongs to: each answer brings a new task. */
import type { Fields, Steer, TurnReport } from '@relay/daemon-kit';
import { type Narrator, createNarrator } from './narrator.ts';
import type { Quirks } from './presets.ts';
import { verdictOf } from './verdict.ts';

export interface ActiveTurn {
  taskId: string;
  report: TurnReport;
  narrator: Narrator;
  /** Its task runs, so the agent can ask. False after a question until the next message arrives. */
  attached: boolean;
  /** The outcome of this turn is ignored: it was cancelled, or the user sent another message. */
  detached: boolean;
  /** A message waits for the turn to complete. The outcome is still reported, but the turn asks no further question. */
  overtaken: boolean;
  cancelling: boolean;
  /** The newest answer was a no. */
  rejected: boolean;
  /** As in the verdict. */
  unknownCommand?: string | undefined;
  /** Resolves the current task: it settled or asked its question. */
  release: () => void;
  /** Messages into the turn that the agent accepted: the task completes when they cause no further updates. */
  steered: Steer[];
  /** Settles when no message is on its way into the turn. */
  steering: Promise<unknown>;
  /** Settles when the turn has fully finished. */
  settled: Promise<void>;
}

export function beginTurn(taskId: string, report: TurnReport, cwd: string): ActiveTurn {
  const active: ActiveTurn = {
    taskId,
    report,
    narrator: createNarrator(
      {
        progress: (action, target) => active.report.progress(action, target),
        title: (title) => active.report.title?.(title),
        output: (text) => active.report.output(text),
      },
      cwd,
    ),
    attached: true,
    detached: false,
    overtaken: false,
    cancelling: false,
    rejected: false,
    release: () => undefined,
    steered: [],
    steering: Promise.resolve(),
    settled: Promise.resolve(),
  };
  return active;
}

/** Resolves when the task that it has now is released. */
export const released = (active: ActiveTurn): Promise<void> => new Promise((resolve) => (active.release = resolve));

/** A call that a permission shows: some agents report it nowhere else. `question`: the uuid of its question. */
export function reportCall(active: ActiveTurn, call: Fields, question?: string): void {
  active.narrator.call(active.report.call?.(call, question));
}

/** Continues the task that had settled with a question: all further updates belong to it. */
export function reattach(active: ActiveTurn, why: string, uuid?: string): void {
  if (active.attached || active.detached) return;
  active.attached = true;
  active.report.withdrawn?.(why, uuid);
}

/** Reports the outcome that follows from the agent's response to the prompt. */
export function conclude(active: ActiveTurn, response: Fields, quirks: Quirks = {}): void {
  if (active.detached) return;
  const verdict = verdictOf(response, active.narrator.summary(), { ...active, quirks });
  if (verdict.kind === 'complete') active.report.complete(verdict.result, verdict.reason);
  else active.report.error(verdict.error);
}
