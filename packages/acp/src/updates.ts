/**
 * Turns the current items of a transcript into the updates that the client lacks. Pure except for its memory of sent texts: no update goes out
 * twice, through either source. Shapes of parts are checked here because the relay does not check them.
 */
import { createHash } from 'node:crypto';
import type { SessionUpdate, ToolCallStatus, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk';
import { type Item, type Message, type Prompt, isItem } from '@relay/protocol';
import { type Budget, createBudget } from './budget.ts';
import { contentOfDiffs, fieldsIn, textContent } from './diffs.ts';
import { type Paths, localPath } from './paths.ts';

interface UpdaterOptions {
  /** Folder of the session on the device. */
  cwd: string;
  paths: Paths;
  /** The client shows notices. */
  notices: boolean;
  /** The budget of the user. Absent: the session has its own. */
  budget?: Budget | undefined;
}

export interface Updater {
  /** Returns the updates between the client's version and the current item or message. */
  updatesFor(entry: Item | Message): SessionUpdate[];
  /** Marks an entry that the client has, or must not get. */
  skip(uuid: string): void;
  isSent(uuid: string): boolean;
  /** Returns the bytes to the budget. The updater sends nothing afterwards. */
  end(): void;
}

/** The length and hash of a text, and its full text if it is new: hash and length alone cannot prove that a shorter text is its beginning. */
interface SentText {
  length: number;
  hash: string;
  text: string | undefined;
}

interface SentItem {
  latest: SentText;
  /** How often another text replaced the text: each replacement is a message of its own. */
  again: number;
  /** Hashes of the JSON of each field of a tool, a plan and similar parts. */
  fields: Map<string, string>;
  isSkipped: boolean;
}

/** The number of remembered entries, and their cost in bytes. */
const most = 20_000;
const sessionBytes = 4 * 1024 * 1024;
const entryBytes = 300;
const fieldBytes = 100;
/** Limit for full texts of the newest entries. */
const wholeBytes = 512 * 1024;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
const nothing: SentText = { length: 0, hash: hashOf(''), text: '' };

export function createUpdater(options: UpdaterOptions): Updater {
  const { budget = createBudget() } = options;
  const all = new Map<string, SentItem>();
  /** Entries with a full text, the longest unchanged entry first. */
  const whole = new Map<string, SentItem>();
  let own = 0;
  let inWhole = 0;
  let isEnded = false;
  const cost = (bytes: number) => {
    own += bytes;
    budget.used += bytes;
  };
  const costOf = ({ fields }: SentItem) => entryBytes + fields.size * fieldBytes;
  const uncount = (uuid: string, { latest }: SentItem): boolean => {
    if (!whole.delete(uuid)) return false;
    inWhole -= latest.length * 2;
    cost(latest.length * -2);
    return true;
  };
  const shorten = (uuid: string, sent: SentItem) => {
    if (uncount(uuid, sent)) sent.latest.text = undefined;
  };
  const forget = (uuid: string, sent: SentItem) => {
    shorten(uuid, sent);
    all.delete(uuid);
    cost(-costOf(sent));
  };
  const isOver = () => all.size > most || own > sessionBytes || budget.used > budget.limit;
  const sentOf = (uuid: string): SentItem => {
    let sent = all.get(uuid);
    if (!sent) {
      sent = { latest: nothing, again: 0, fields: new Map(), isSkipped: false };
      all.set(uuid, sent);
      cost(costOf(sent));
    }
    return sent;
  };
  /** Runs `work`, which changes the entry, and counts the new size of the entry. */
  const paid = <T>(uuid: string, sent: SentItem, work: () => T): T => {
    uncount(uuid, sent);
    const before = costOf(sent);
    const done = work();
    cost(costOf(sent) - before);
    if (sent.latest.text !== undefined && sent.latest.length > 0) {
      whole.set(uuid, sent);
      inWhole += sent.latest.length * 2;
      cost(sent.latest.length * 2);
    }
    for (const [oldest, one] of whole) {
      if (inWhole <= wholeBytes && !isOver()) break;
      shorten(oldest, one);
    }
    for (const [oldest, one] of all) {
      if (!isOver() || all.size === 1) break;
      forget(oldest, one);
    }
    return done;
  };
  return {
    isSent: (uuid) => all.has(uuid),
    skip(uuid) {
      if (isEnded) return;
      const sent = sentOf(uuid);
      paid(uuid, sent, () => (sent.isSkipped = true));
    },
    updatesFor(entry) {
      if (isEnded) return [];
      const isFirst = !all.has(entry.uuid);
      const sent = sentOf(entry.uuid);
      if (sent.isSkipped) return [];
      return paid(entry.uuid, sent, () =>
        isItem(entry) ? updatesOf(entry, sent, isFirst, options) : words(entry, sent, speaker(entry)),
      );
    },
    end() {
      isEnded = true;
      for (const [uuid, sent] of all) forget(uuid, sent);
    },
  };
}

/** The known text begins with `content`. If only the hash is known, any shorter text counts as its beginning: the client keeps its text. */
function isBeginning(content: string, { length, hash, text }: SentText): boolean {
  if (text !== undefined) return text.startsWith(content);
  return content.length < length || (content.length === length && hashOf(content) === hash);
}

type Speaker = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk';
const speaker = ({ role }: { role: string }): Speaker =>
  role === 'USER' ? 'user_message_chunk' : 'agent_message_chunk';

function words(
  { uuid, content }: { uuid: string; content: string },
  sent: SentItem,
  sessionUpdate: Speaker,
): SessionUpdate[] {
  const before = sent.latest;
  // A shortened text, for example without trailing white space, cannot be retracted.
  if (isBeginning(content, before)) return [];
  const isLonger = content.length > before.length && hashOf(content.slice(0, before.length)) === before.hash;
  if (!isLonger) sent.again += 1;
  sent.latest = { length: content.length, hash: hashOf(content), text: content };
  const messageId = sent.again === 0 ? uuid : `${uuid}#${sent.again + 1}`;
  const text = isLonger ? content.slice(before.length) : content;
  return [{ sessionUpdate, messageId, content: { type: 'text', text } }];
}

function updatesOf(item: Item, sent: SentItem, isFirst: boolean, options: UpdaterOptions): SessionUpdate[] {
  const { part } = item;
  switch (part.kind) {
    case 'thought':
      return words(item, sent, 'agent_thought_chunk');
    case 'tool':
      return toolUpdates(item, sent, isFirst, options);
    case 'plan':
      return changed(sent, 'plan', planOf(part));
    case 'usage':
      return changed(sent, 'usage', usageOf(part));
    case 'mark':
      return options.notices ? changed(sent, 'mark', noticeOf(part)) : [];
    case 'question':
      // Asking sends an open question as a request.
      if (isFirst && part.state === 'open') sent.isSkipped = true;
      return sent.isSkipped ? [] : words(item, sent, speaker(item));
    case 'user':
      return words(withImages(item), sent, 'user_message_chunk');
    case 'image':
      return words(
        { ...item, content: item.content || `[Image: ${text(part.mime) ?? 'unknown type'}]` },
        sent,
        speaker(item),
      );
    default:
      return words(item, sent, speaker(item));
  }
}

/** Gives a message without text the number of its images. */
function withImages(item: Item): Item {
  const { images } = item.part;
  if (item.content !== '' || !Array.isArray(images) || images.length === 0) return item;
  return { ...item, content: images.length === 1 ? '[1 image]' : `[${images.length} images]` };
}

/** Returns the update, unless the client has it already. */
function changed(sent: SentItem, name: string, update: SessionUpdate | undefined): SessionUpdate[] {
  if (!update) return [];
  return isNews(sent, name, update) ? [update] : [];
}

function isNews(sent: SentItem, name: string, value: unknown): boolean {
  const json = JSON.stringify(value);
  const before = sent.fields.get(name);
  // An unsent list counts as empty.
  if (before === undefined ? json === '[]' : before === hashOf(json)) return false;
  sent.fields.set(name, hashOf(json));
  return true;
}

type Part = Item['part'];
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function planOf(part: Part): SessionUpdate {
  const oneOf = <T extends string>(value: unknown, allowed: readonly T[], otherwise: T): T =>
    allowed.find((one) => one === value) ?? otherwise;
  return {
    sessionUpdate: 'plan',
    entries: fieldsIn(part.entries).map((entry) => ({
      content: text(entry.text) ?? '',
      status: oneOf(entry.status, ['pending', 'in_progress', 'completed'] as const, 'pending'),
      priority: oneOf(entry.priority, ['high', 'medium', 'low'] as const, 'medium'),
    })),
  };
}

function usageOf({ used, size, cost }: Part): SessionUpdate | undefined {
  if (typeof used !== 'number' || typeof size !== 'number') return undefined;
  const { amount, currency } = (fieldsIn([cost])[0] ?? {}) as { amount?: unknown; currency?: unknown };
  return {
    sessionUpdate: 'usage_update',
    used,
    size,
    ...(typeof amount === 'number' && typeof currency === 'string' ? { cost: { amount, currency } } : {}),
  };
}

/** Own entries alone: a daemon can send any name, also `toString`. */
const entryOf = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const markTitles: Readonly<Record<string, string>> = {
  cancelled: 'Cancelled',
  interrupted: 'Interrupted',
  compacted: 'The context was compacted',
};

function noticeOf({ what, text: notice }: Part): SessionUpdate | undefined {
  // The options of the session report a change of mode.
  if (what === 'mode') return undefined;
  const title = entryOf(markTitles, String(what)) ?? text(notice);
  if (title === undefined) return undefined;
  const description = text(notice);
  return {
    sessionUpdate: 'notice',
    severity: 'info',
    title,
    ...(description === undefined || description === title ? {} : { description }),
  };
}

const toolKinds = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode'] as const;
const toolStates: Readonly<Record<string, ToolCallStatus>> = {
  pending: 'pending',
  running: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  rejected: 'failed',
  cancelled: 'failed',
  unknown: 'failed',
  interrupted: 'failed',
};

/** Returns the agent's id of the call, or the item's uuid. */
export const toolCallIdOf = ({ uuid, part }: Item): string => text(part.id) ?? uuid;

/** Returns the newest pending or running call that the question can be about. */
export const openCallOf = (items: readonly Item[], { command }: NonNullable<Prompt['subject']>): Item | undefined =>
  items.findLast(
    ({ part }) =>
      part.kind === 'tool' &&
      (part.status === 'pending' || part.status === 'running') &&
      (command === undefined || part.command === undefined || part.command === command),
  );

function toolUpdates(item: Item, sent: SentItem, isFirst: boolean, options: UpdaterOptions): SessionUpdate[] {
  const toolCallId = toolCallIdOf(item);
  const call = callOf(item, options);
  const news = Object.fromEntries(
    Object.entries(call).filter(([name, value]) => value !== undefined && isNews(sent, name, value)),
  ) as Partial<typeof call>;
  if (isFirst) return [{ sessionUpdate: 'tool_call', toolCallId, ...news, title: call.title }];
  return Object.keys(news).length > 0 ? [{ sessionUpdate: 'tool_call_update', toolCallId, ...news }] : [];
}

function callOf({ part, content }: Item, { cwd, paths }: UpdaterOptions) {
  const { command, input, exit } = part;
  const output = text(part.output);
  const left =
    typeof part.left === 'number' && part.left > 0 ? `\n[${part.left} bytes of this output are left out]` : '';
  const places = fieldsIn(part.places).filter(({ path }) => typeof path === 'string');
  const folder = text(part.cwd);
  return {
    title: text(part.title) ?? text(part.name) ?? text(command) ?? text(content) ?? 'Tool',
    name: text(part.name),
    kind: toolKinds.find((kind) => kind === part.does) ?? ('other' satisfies ToolKind),
    status: entryOf(toolStates, String(part.status)),
    content: [...contentOfDiffs(part.diffs, cwd, paths), ...(output === undefined ? [] : [textContent(output + left)])],
    locations: places.map(({ path, line }) => ({
      path: localPath(path as string, cwd, paths),
      ...(typeof line === 'number' && line > 0 ? { line } : {}),
    })),
    rawInput: text(command)
      ? { command, ...(folder === undefined ? {} : { cwd: localPath(folder, cwd, paths) }) }
      : text(input) && { input },
    rawOutput: typeof exit === 'number' ? { exit } : undefined,
  } satisfies Partial<ToolCallUpdate>;
}
