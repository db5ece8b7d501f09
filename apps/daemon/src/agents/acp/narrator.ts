/**
 * Turns the agent's updates during a turn into PROGRESS, OUTPUT and the text of the answer. Knows neither processes nor
 * questions. The transcript decides where a text stops and which call an update is about.
 */
import { type Effect, type Fields, fieldBytes, keepTail, pieceOf, recordOf } from '@relay/daemon-kit';
import { changedBy, describeCall, hasInput } from './calls.ts';

interface Listener {
  progress(action: string, target: string): void;
  output(text: string): void;
  title?(title: string): void;
}

export interface TurnSummary {
  /** The agent's last message with text since the last question took it. */
  answer: string;
  /** A tool ran or the agent showed a picture after that message. */
  acted: boolean;
  /** Anything came in this turn. */
  worked: boolean;
  /** The agent itself marked the turn as failed. */
  failed: boolean;
}

export interface Narrator {
  /** `effect`: the transcript's result for the update. */
  update(update: Fields, effect: Effect | undefined): void;
  /** A tool call as a permission request shows it. */
  call(effect: Effect | undefined): void;
  summary(): TurnSummary;
  /** Returns the text since the previous call, which goes with a question, and starts with an empty text again. */
  takeText(): string;
}

const maxCalls = 1000;

export function createNarrator(listener: Listener, cwd: string): Narrator {
  /** The last text about each call, by the uuid of its item. */
  const calls = new Map<string, { lastText: string; finished: boolean }>();
  let current = '';
  let pendingText = '';
  let answer = '';
  let acted = false;
  let worked = false;
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
      pendingText += '\n\n';
      emit('\n');
    }
    current = '';
  };

  const append = (update: Fields) => {
    const text = pieceOf(current, update.content);
    if (text === '') return;
    // A picture is an item of its own, and no part of the answer.
    if (recordOf(update.content).type === 'image') {
      acted = true;
      return emit(text);
    }
    current += text;
    pendingText += text;
    // Cut from time to time: a flood of small chunks must not be copied with each of them.
    if (current.length > 2 * fieldBytes.message) current = keepTail(current, fieldBytes.message);
    if (pendingText.length > 2 * fieldBytes.message) pendingText = keepTail(pendingText, fieldBytes.message);
    emit(text);
  };

  const call = ({ call, uuid, printed }: Effect) => {
    if (printed !== '') emit(printed);
    if (!call || uuid === undefined) return;
    const entry = calls.get(uuid) ?? { lastText: '', finished: false };
    calls.set(uuid, entry);
    const [oldest] = calls.keys();
    if (calls.size > maxCalls && oldest !== undefined) calls.delete(oldest);
    if (entry.finished) return;
    const [action, target] = describeCall(call, cwd);
    // Announced before its input is known: it will be reported again.
    const waits = call.status === 'pending' && !hasInput(call);
    const words = `${action}\n${target}`;
    if (!waits && words !== entry.lastText) {
      entry.lastText = words;
      progress(action, target);
    }
    entry.finished = call.status === 'completed' || call.status === 'failed';
    if (!entry.finished) return;
    const changed = changedBy(call, cwd);
    if (changed !== '') emit(`${changed}\n`);
    else if (printed !== '' && !printed.endsWith('\n')) emit('\n');
  };

  return {
    call(effect) {
      if (effect?.ended) endMessage();
      if (effect) call(effect);
    },
    update(update, effect) {
      if (effect?.ended) endMessage();
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          worked = true;
          return append(update);
        case 'agent_thought_chunk':
          worked = true;
          // The thoughts themselves stay with the agent.
          return progress('Thinking', '');
        case 'tool_call':
        case 'tool_call_update':
          worked = true;
          // An update of a refused call does not count as work.
          if (update.sessionUpdate === 'tool_call' || runs.has(update.status)) acted = true;
          return effect && call(effect);
        case 'plan': {
          worked = true;
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
    takeText() {
      endMessage();
      const text = keepTail(pendingText, fieldBytes.message).trim();
      pendingText = '';
      // The text belongs to the question and answers nothing after it.
      answer = '';
      acted = false;
      return text;
    },
    summary: () => ({ answer: (current.trim() === '' ? answer : current).trim(), acted, worked, failed }),
  };
}

const runs: ReadonlySet<unknown> = new Set(['in_progress', 'completed']);

const metaOf = (fields: Fields): Fields => recordOf(fields._meta);
