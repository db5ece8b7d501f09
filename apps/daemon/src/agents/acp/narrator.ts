/**
 * What an agent tells during a turn, from the updates of ACP to PROGRESS, OUTPUT and the words of the answer. Knows neither
 * processes nor questions. Tolerant: an update of an unknown kind or shape says nothing.
 */
import { relative } from 'node:path';
import { type OutputStream, fieldBytes, keepTail } from '@relay/daemon-kit';

/** The updates are read by shape: agents differ, and one odd field must not cost the others. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Listener {
  progress(action: string, target: string): void;
  output: OutputStream;
  title?(title: string): void;
}

export interface Told {
  /** The last message of the agent that says something. */
  answer: string;
  /** Something was told besides words: a tool was called. */
  acted: boolean;
  /** The agent itself marked the turn as failed. */
  failed: boolean;
}

export interface Narrator {
  update(update: Fields): void;
  /** A tool call as a permission request shows it. */
  call(call: Fields): void;
  told(): Told;
  /** What was said since this was asked last. */
  said(): string;
}

const actions: Readonly<Record<string, string>> = {
  read: 'Reading',
  edit: 'Editing',
  delete: 'Deleting',
  move: 'Moving',
  search: 'Searching',
  execute: 'Running',
  think: 'Thinking',
  fetch: 'Fetching',
  switch_mode: 'Switching',
};
const maxCalls = 1000;

export function createNarrator(listener: Listener, cwd: string): Narrator {
  const write = listener.output.writer();
  const calls = new Map<string, { call: Fields; told: string; finished: boolean }>();
  let current = '';
  let unasked = '';
  let answer = '';
  let messageId: string | undefined;
  let acted = false;
  let failed = false;
  let lastAction = '';

  const emit = (text: string) => write(Buffer.from(text, 'utf8'));
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
    const text = textOf(update.content);
    if (text === '') return;
    const id = typeof update.messageId === 'string' ? update.messageId : undefined;
    if (id !== undefined && messageId !== undefined && id !== messageId) endMessage();
    messageId = id ?? messageId;
    current += text;
    unasked += text;
    // Cut now and then: a flood of small chunks must not be copied with each of them.
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
    // Announced before its input is known: it will be said again.
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
      // What it brought about may be as large as a file.
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
      const said = keepTail(unasked, fieldBytes.message).trim();
      unasked = '';
      return said;
    },
    told: () => ({ answer: (current.trim() === '' ? answer : current).trim(), acted, failed }),
  };
}

const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

const metaOf = (fields: Fields): Fields =>
  typeof fields._meta === 'object' && fields._meta !== null ? (fields._meta as Fields) : {};

/** Text of a content block, of a list of them, or of something that is text already. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).join('');
  if (typeof content !== 'object' || content === null) return '';
  const { type, text, resource, uri } = content as Fields;
  if (typeof text === 'string') return text;
  if (type === 'resource') return textOf((resource as Fields | undefined)?.text);
  return type === 'resource_link' && typeof uri === 'string' ? uri : '';
}

const inputOf = (call: Fields): Fields =>
  typeof call.rawInput === 'object' && call.rawInput !== null ? (call.rawInput as Fields) : {};

const hasInput = (call: Fields) =>
  Object.keys(inputOf(call)).length > 0 || (Array.isArray(call.locations) && call.locations.length > 0);

/** What a tool call does, and to what: its command, else its path, else its title. */
export function describeCall(call: Fields, cwd: string): [action: string, target: string] {
  const kind = typeof call.kind === 'string' ? call.kind : '';
  const title = typeof call.title === 'string' ? call.title : '';
  const action = actions[kind] ?? 'Working';
  return [action, commandOf(call) ?? pathOf(call, cwd) ?? title];
}

export function commandOf(call: Fields): string | undefined {
  const { command, cmd } = inputOf(call);
  for (const value of [command, cmd]) {
    if (typeof value === 'string' && value !== '') return value;
    if (Array.isArray(value) && value.length > 0) return value.map(String).join(' ');
  }
  return undefined;
}

function pathOf(call: Fields, cwd: string): string | undefined {
  const [location] = Array.isArray(call.locations) ? (call.locations as Fields[]) : [];
  const input = inputOf(call);
  const path = [location?.path, input.file_path, input.filePath, input.path].find(
    (value) => typeof value === 'string' && value !== '',
  ) as string | undefined;
  return path === undefined ? undefined : shortened(path, cwd);
}

/** Relative when the path lies below the folder of the session. */
function shortened(path: string, cwd: string): string {
  if (!path.startsWith('/')) return path;
  const below = relative(cwd, path);
  return below === '' || below.startsWith('..') ? path : below;
}

/** What a tool call brought about, as text: its output, and of changed files the path. */
export function contentOf(content: unknown, cwd: string): string {
  if (!Array.isArray(content)) return '';
  return (content as Fields[])
    .map((item) => {
      if (item.type === 'content') return textOf(item.content);
      return item.type === 'diff' && typeof item.path === 'string' ? `changed ${shortened(item.path, cwd)}` : '';
    })
    .filter((text) => text !== '')
    .join('\n');
}
