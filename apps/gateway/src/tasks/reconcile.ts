/**
 * Reads from a `status` frame the outcome of tasks under way (rules, 3.1). Pure, because everything depends on it: the outcome of
 * a task is never guessed.
 */
import type { TaskEntry } from '../connection/open-tasks.ts';

export type UnderWay = Pick<TaskEntry, 'state' | 'isSteer' | 'fence' | 'mentionedAtMs' | 'missingSinceMs'>;

export interface Reconciliation {
  /** sent → running: the daemon lists it. */
  confirmed: string[];
  /** sent → unknown: written to an earlier connection, and the first `status` after it does not list it. */
  unknown: string[];
  /** running → failed (TASK_LOST). */
  lost: string[];
  /** Listed again after an omission. */
  present: string[];
  /** Omitted by this frame, for the first time. */
  missing: string[];
}

/**
 * Absence proves nothing for a task written to this connection: the frame might have been in flight. A task from an
 * earlier connection is lost if the first `status` omits it; later, if every `status` over `lostAfterMs` did, or if no
 * frame named it for `silentAfterMs`.
 */
export function reconcile(
  underWay: Iterable<[string, UnderWay]>,
  listed: ReadonlySet<string>,
  context: { fence: number; first: boolean; nowMs: number; lostAfterMs: number; silentAfterMs: number },
): Reconciliation {
  const verdict: Reconciliation = { confirmed: [], unknown: [], lost: [], present: [], missing: [] };
  for (const [id, task] of underWay) {
    if (listed.has(id)) {
      verdict.present.push(id);
      if (task.state === 'sent' && !task.isSteer) verdict.confirmed.push(id);
      continue;
    }
    const before = task.fence < context.fence;
    if (task.state === 'sent') {
      if (before) verdict.unknown.push(id);
      continue;
    }
    if (task.isSteer) continue;
    const silent = context.nowMs - task.mentionedAtMs >= context.silentAfterMs;
    if (silent || (before && context.first)) verdict.lost.push(id);
    else if (task.missingSinceMs === undefined) verdict.missing.push(id);
    else if (context.nowMs - task.missingSinceMs >= context.lostAfterMs) verdict.lost.push(id);
  }
  return verdict;
}

/** No `status` came in time after a reconnect: unconfirmed tasks of earlier connections are unknown. */
export function unconfirmed(underWay: Iterable<[string, UnderWay]>, fence: number): string[] {
  return [...underWay].filter(([, task]) => task.state === 'sent' && task.fence < fence).map(([id]) => id);
}
