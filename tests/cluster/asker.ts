/**
 * An agent that only asks: each turn ends with a question, which the agent can withdraw to ask another one. It records
 * every question and every answer.
 */
import { randomUUID } from 'node:crypto';
import type { Agent, Turn, TurnReport } from '@relay/daemon-kit';

export interface Given {
  question: string;
  option?: string;
  words: string;
  taskId: string;
}

/** One conversation of the agent. */
export interface Asker {
  readonly sessionId: string;
  readonly withdrawn: Set<string>;
  readonly given: Given[];
  /** The open question. */
  current(): string | undefined;
  /** Withdraws this question and asks another one in the same turn, unless it has its answer already. */
  askAgain(uuid: string): void;
}

function createAsker(sessionId: string): Asker & Pick<Agent, 'start'> {
  const withdrawn = new Set<string>();
  const given: Given[] = [];
  let open: { uuid: string; report: TurnReport } | undefined;

  const ask = (report: TurnReport) => {
    const uuid = randomUUID();
    open = { uuid, report };
    report.wait({
      uuid,
      prompt: `Go on with ${uuid}?`,
      kind: 'permission',
      choices: [
        { id: 'yes', label: 'Yes', kind: 'allow_once' },
        { id: 'no', label: 'No', kind: 'reject_once' },
      ],
    });
  };

  return {
    sessionId,
    withdrawn,
    given,
    current: () => open?.uuid,
    askAgain(uuid) {
      if (open?.uuid !== uuid) return;
      const { report } = open;
      withdrawn.add(uuid);
      report.withdrawn?.('the agent thought of something else.', uuid);
      ask(report);
    },
    start({ answer, message: words, taskId }, report) {
      open = undefined;
      if (answer) given.push({ ...answer, words, taskId });
      let isCancelled = false;
      const ended = new Promise<void>((resolve) =>
        setImmediate(() => {
          if (!isCancelled) ask(report);
          resolve();
        }),
      );
      const cancel = () => {
        isCancelled = true;
        return ended;
      };
      return { ended, cancel };
    },
  };
}

export function createAskers(): { agent: Agent; all: () => Asker[] } {
  const askers = new Map<string, ReturnType<typeof createAsker>>();
  const start = (turn: Turn, report: TurnReport) => {
    const asker = askers.get(turn.sessionId) ?? createAsker(turn.sessionId);
    askers.set(turn.sessionId, asker);
    return asker.start(turn, report);
  };
  return { agent: { holdsQuestions: true, start }, all: () => [...askers.values()] };
}
