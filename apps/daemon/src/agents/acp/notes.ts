/** Facts about a session other than its messages: slash commands, how full the context is, its cost, and the limits of the plan. */
import { type UsageLimit, costIn } from '@relay/protocol';
import type { Agent, Fields } from '@relay/daemon-kit';
import { claudeLimit } from '../limits.ts';
import { AgentFailure } from './process.ts';

type Listener = Parameters<NonNullable<Agent['onCommands']>>[0];
type Context = Awaited<ReturnType<NonNullable<Agent['context']>>>;

interface Notes extends Required<Pick<Agent, 'context' | 'onCommands'>> {
  /** Any `session/update`. Returns it, a `usage_update` with the limits of the plan. */
  observe(sessionId: string, update: Fields): Fields;
  /** The limits of the plan, as the agent reported them last. */
  reportedLimits(sessionId: string): readonly UsageLimit[];
  /** The slash command at the beginning of a message that is not among the announced commands of its agent. */
  unknownCommand(sessionId: string, message: string): string | undefined;
  /** The description of an announced command; empty without one. */
  describedAs(sessionId: string, command: string): string;
}

interface NotesOptions {
  now: () => number;
  /** The limits in the agent's own file of a session. */
  limitsOf?: ((sessionId: string) => readonly UsageLimit[]) | undefined;
}

const maxSessions = 1000;

export function createNotes({ now, limitsOf }: NotesOptions): Notes {
  const contexts = new Map<string, Context>();
  /** The newest report of each limit: the sessions of an agent share its plan. */
  const limits = new Map<string, UsageLimit>();
  /** Descriptions by name, by session. */
  const commands = new Map<string, Map<string, string>>();
  let listener: Listener = () => undefined;

  const limitsNow = (sessionId: string, update: Fields = {}): { limits?: UsageLimit[] } => {
    for (const limit of [claudeLimit(update, now()) ?? [], limitsOf?.(sessionId) ?? []].flat()) {
      const previous = limits.get(limit.id);
      if (!previous || previous.as_of <= limit.as_of) limits.set(limit.id, limit);
    }
    return limits.size === 0 ? {} : { limits: [...limits.values()] };
  };

  return {
    reportedLimits: (sessionId) => limitsNow(sessionId).limits ?? [],
    observe(sessionId, update) {
      if (update.sessionUpdate === 'available_commands_update') {
        const announced = commandsOf(update);
        keep(commands, sessionId, new Map(announced.map(({ name, description = '' }) => [name, description])));
        listener(sessionId, announced);
      }
      if (update.sessionUpdate !== 'usage_update') return update;
      const cost = costIn(update.cost) ?? contexts.get(sessionId)?.cost;
      const size = tokens(update.size) ?? contexts.get(sessionId)?.max_tokens ?? null;
      keep(contexts, sessionId, { used_tokens: tokens(update.used), max_tokens: size, ...(cost ? { cost } : {}) });
      return { ...update, ...limitsNow(sessionId, update) };
    },
    unknownCommand(sessionId, message) {
      const [, name] = /^\/([^\s/]+)(?:\s|$)/.exec(message) ?? [];
      const announced = commands.get(sessionId);
      return name !== undefined && announced !== undefined && announced.size > 0 && !announced.has(name)
        ? name
        : undefined;
    },
    describedAs: (sessionId, command) => commands.get(sessionId)?.get(command) ?? '',
    onCommands: (listens) => void (listener = listens),
    context(sessionId) {
      const usage = contexts.get(sessionId);
      return usage
        ? Promise.resolve({ ...usage, ...limitsNow(sessionId) })
        : Promise.reject(new AgentFailure('The agent has not reported how full the context of this session is.'));
    },
  };
}

/** Keeps the newest sessions. */
function keep<T>(facts: Map<string, T>, sessionId: string, fact: T): void {
  facts.delete(sessionId);
  facts.set(sessionId, fact);
  const [oldest] = facts.keys();
  if (facts.size > maxSessions && oldest !== undefined) facts.delete(oldest);
}

const tokens = (value: unknown) => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null);

function commandsOf({ availableCommands }: Fields) {
  const listed: unknown[] = Array.isArray(availableCommands) ? availableCommands : [];
  return listed.flatMap((command) => {
    const { name, description, input } = (command ?? {}) as Fields;
    const { hint } = (input ?? {}) as Fields;
    if (typeof name !== 'string' || name === '') return [];
    return [
      {
        name,
        ...(typeof description === 'string' ? { description } : {}),
        ...(typeof hint === 'string' ? { input_hint: hint } : {}),
      },
    ];
  });
}
