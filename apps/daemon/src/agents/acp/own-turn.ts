/**
 * A turn that the agent began itself. No response completes it: it is over once the agent is silent for a while and
 * nothing is open.
 */
import { type Cancel, type Clock, type Fields, type TurnReport, recordOf, textOf, wordsOf } from '@relay/daemon-kit';
import type { ActiveTurn } from './turn.ts';

interface OwnTurnOptions {
  clock: Clock;
  quietMs: number;
  begin: () => ActiveTurn;
  /** A question of the agent is open. */
  isAsking: () => boolean;
  /** `lost`: why the agent can do nothing more. */
  end: (active: ActiveTurn, lost: string | undefined) => void;
}

/** Updates that begin a turn. Other updates between two turns change known state only. */
const beginners: ReadonlySet<unknown> = new Set([
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'plan',
  'notice',
]);
const running: ReadonlySet<unknown> = new Set(['pending', 'in_progress']);

export type OwnTurn = ReturnType<typeof createOwnTurn>;

export function createOwnTurn({ clock, quietMs, begin, isAsking, end }: OwnTurnOptions) {
  let own: ActiveTurn | undefined;
  /** The report that began it: the task of an answer has another report. */
  let report: TurnReport | undefined;
  const work = createWork(isAsking);
  let cancel: Cancel = () => undefined;

  const over = (lost?: string) => {
    cancel();
    const active = own;
    own = undefined;
    work.clear();
    if (active) end(active, lost);
    report?.complete('');
    report = undefined;
  };
  const wait = () => {
    cancel();
    cancel = clock.after(quietMs, () => (work.isOpen() ? wait() : over()));
  };
  const beginOwn = () => {
    own = begin();
    ({ report } = own);
    wait();
    return own;
  };

  return {
    isActive: (active: ActiveTurn) => active === own,
    begin: beginOwn,
    /** Begins one if this update does. */
    beginWith(update: Fields): ActiveTurn | undefined {
      const isSilent = update.sessionUpdate === 'agent_message_chunk' && isBlank(update.content);
      return beginners.has(update.sessionUpdate) && !isSilent ? beginOwn() : undefined;
    },
    /** An update of the turn that runs. */
    observe(active: ActiveTurn, update: Fields) {
      if (active !== own) return;
      work.observe(update);
      wait();
    },
    /** The answer to its question has arrived. */
    answered(active: ActiveTurn, call: Fields | undefined) {
      if (active !== own) return;
      if (call && active.rejected) work.refused(call);
      wait();
    },
    end: over,
  };
}

/** The work of an agent that is open, as far as its updates show. */
export function createWork(isAsking: () => boolean) {
  /** The calls that the agent reported as running. */
  const open = new Set<string>();
  let isReportedActive = false;
  return {
    observe(update: Fields) {
      const id = wordsOf(update.toolCallId);
      if (id !== '' && running.has(update.status)) open.add(id);
      else if (update.status !== undefined) open.delete(id);
      const { type } = recordOf(recordOf(recordOf(update._meta).codex).threadStatus);
      if (typeof type === 'string') isReportedActive = type === 'active';
    },
    /** Most agents send no final update for a refused call, and some ask under another id. */
    refused(call: Fields) {
      if (!open.delete(wordsOf(call.toolCallId))) open.clear();
    },
    isOpen: () => isAsking() || open.size > 0 || isReportedActive,
    clear() {
      open.clear();
      isReportedActive = false;
    },
  };
}

const isBlank = (content: unknown): boolean => recordOf(content).type !== 'image' && textOf(content).trim() === '';
