/**
 * The updates of an agent during a turn, from ACP to PROGRESS, OUTPUT and the words of the answer. Knows neither
 * processes nor questions. Tolerant: an update of an unknown kind or shape is ignored.
 */
import { fieldBytes, keepTail, present } from '@relay/daemon-kit';
import { contentOf, describeCall, hasInput } from './calls.ts';
import { type Fields, pieceOf, recordOf, textOf } from './content.ts';

interface Listener {
  progress(action: string, target: string): void;
  output(text: string): void;
  title?(title: string): void;
}

export interface Told {
  /** The last message of the agent with text, since `said` was called last. */
  answer: string;
  /** Something else than words came since then: a tool was called. */
  acted: boolean;
  /** The agent itself marked the turn as failed. */
  failed: boolean;
}

export interface Narrator {
  update(update: Fields): void;
  /** A tool call as a permission request shows it. */
  call(call: Fields): void;
  told(): Told;
  /** The words since the previous call. They go with a question: `told` starts empty again. */
  said(): string;
}

const maxCalls = 1000;

export function createNarrator(listener: Listener, cwd: string): Narrator {
  const calls = new Map<string, { call: Fields; told: string; finished: boolean }>();
  let current = '';
  let unasked = '';
  let answer = '';
  let messageId: string | undefined;
  let acted = false;
  let failed = false;
  let lastAction = '';

  const emit = (text: string) => listener.output(text);
  const progress = (action: string, target: string) => {
    const words = `${action}\n${target}`;
    if (words === lastAction) return;
    lastAction = words;
    listener.progress(action, target);
  };
  const endMessage = () => {
    if (current.trim() !== '') {
      answer = current;
      unasked += '\n\n';
      emit('\n');
    }
    current = '';
  };

  const say = (update: Fields) => {
    const id = typeof update.messageId === 'string' ? update.messageId : undefined;
    if (id !== undefined && messageId !== undefined && id !== messageId) endMessage();
    const text = pieceOf(current, update.content);
    if (text === '') return;
    messageId = id ?? messageId;
    current += text;
    unasked += text;
    // Cut from time to time: a flood of small chunks must not be copied with each of them.
    if (current.length > 2 * fieldBytes.message) current = keepTail(current, fieldBytes.message);
    if (unasked.length > 2 * fieldBytes.message) unasked = keepTail(unasked, fieldBytes.message);
    emit(text);
  };

  const call = (update: Fields) => {
    const id = typeof update.toolCallId === 'string' ? update.toolCallId : '';
    const known = calls.get(id);
    // Updates carry only what changed.
    const merged = { ...known?.call, ...present(update) };
    const entry = { call: merged, told: known?.told ?? '', finished: known?.finished ?? false };
    calls.set(id, entry);
    const [oldest] = calls.keys();
    if (calls.size > maxCalls && oldest !== undefined) calls.delete(oldest);
    if (!known) {
      acted = true;
      endMessage();
      messageId = undefined;
    }
    const [action, target] = describeCall(merged, cwd);
    // Announced before its input is known: it will be reported again.
    const waiting = merged.status === 'pending' && !hasInput(merged);
    const words = `${action}\n${target}`;
    if (!waiting && !entry.finished && words !== entry.told) {
      entry.told = words;
      progress(action, target);
    }
    const delta = metaOf(update).terminal_output_delta;
    const piece = typeof delta === 'string' ? delta : textOf((delta as Fields | undefined)?.data ?? delta);
    if (piece !== '') emit(piece);
    if (!entry.finished && (merged.status === 'completed' || merged.status === 'failed')) {
      entry.finished = true;
      // The result may be as large as a file.
      entry.call = {};
      const result = contentOf(merged.content, cwd);
      if (result !== '') emit(`${result.trimEnd()}\n`);
    }
  };

  return {
    call,
    update(update) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          return say(update);
        case 'agent_thought_chunk':
          // The thoughts themselves stay with the agent.
          return progress('Thinking', '');
        case 'tool_call':
        case 'tool_call_update':
          return call(update);
        case 'plan': {
          const entries = Array.isArray(update.entries) ? (update.entries as Fields[]) : [];
          const now = entries.find(({ status }) => status === 'in_progress') ?? entries[0];
          return progress('Planning', typeof now?.content === 'string' ? now.content : '');
        }
        case 'notice': {
          const { title, description } = update;
          const words = [title, description].filter((text) => typeof text === 'string' && text !== '').join(': ');
          if (words !== '') emit(`[${words}]\n`);
          return;
        }
        case 'session_info_update': {
          if (typeof update.title === 'string' && update.title !== '') listener.title?.(update.title);
          const status = (metaOf(update).codex as Fields | undefined)?.threadStatus as Fields | undefined;
          if (status?.type === 'systemError') failed = true;
        }
      }
    },
    said() {
      endMessage();
      messageId = undefined;
      const said = keepTail(unasked, fieldBytes.message).trim();
      unasked = '';
      // It belongs to the question, and is no answer to anything after it.
      answer = '';
      acted = false;
      return said;
    },
    told: () => ({ answer: (current.trim() === '' ? answer : current).trim(), acted, failed }),
  };
}

const metaOf = (fields: Fields): Fields => recordOf(fields._meta);
