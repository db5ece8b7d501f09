/** Facts about a session other than its messages: slash commands, and how full the context is. */
import type { Agent } from '@relay/daemon-kit';
import { AgentFailure } from './process.ts';
import type { Fields } from './content.ts';

type Listener = Parameters<NonNullable<Agent['onCommands']>>[0];
type Context = Awaited<ReturnType<NonNullable<Agent['context']>>>;

interface Notes extends Required<Pick<Agent, 'context' | 'onCommands'>> {
  /** Any `session/update`; those about something else are ignored. */
  heard(sessionId: string, update: Fields): void;
}

const maxSessions = 1000;

export function createNotes(): Notes {
  const contexts = new Map<string, Context>();
  let listener: Listener = () => undefined;
  return {
    heard(sessionId, update) {
      if (update.sessionUpdate === 'available_commands_update') listener(sessionId, commandsOf(update));
      if (update.sessionUpdate !== 'usage_update') return;
      contexts.delete(sessionId);
      contexts.set(sessionId, { used_tokens: tokens(update.used), max_tokens: tokens(update.size) });
      const [oldest] = contexts.keys();
      if (contexts.size > maxSessions && oldest !== undefined) contexts.delete(oldest);
    },
    onCommands: (told) => void (listener = told),
    context(sessionId) {
      const known = contexts.get(sessionId);
      return known
        ? Promise.resolve(known)
        : Promise.reject(new AgentFailure('The agent has not reported how full the context of this session is.'));
    },
  };
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
