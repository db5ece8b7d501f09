/**
 * Updates of ACP → changes of a transcript (transcript.md §6): the same for a live turn, a replay and a reader of native files, so that a
 * session reads the same however it arrived. Pure but for the clock that it is given. An update of an unknown kind or shape is ignored.
 */
import { randomUUID } from 'node:crypto';
import { transcriptLimits } from '@relay/protocol';
import { foreignUuid } from '@relay/protocol/identity';
import { keepHead } from '../bounds.ts';
import { type Keep, imageName, outputName } from '../contents.ts';
import type { Change, NewItem } from '../store.ts';
import { type Fields, listOf, pieceOf, recordOf, wordsOf } from './content.ts';
import { type Printed, createPrinted } from './output.ts';
import { type ToolPart, printedBy, toolPart } from './tool.ts';

/** The level of detail of a transcript. `outline`: of tools only the title and the state. */
export type Detail = 'full' | 'outline';

export interface MapperOptions {
  sessionId: string;
  cwd: string;
  /** Item of the user that began the turn. */
  turn?: string | undefined;
  /** The name of a message, in the form of this agent's reader: the same live and read. `part`: from 1, more than one around a tool call. */
  idOf?: ((role: 'USER' | 'AGENT', messageId: string, part: number) => string) | undefined;
  detail: Detail;
  thoughts: boolean;
  /** Milliseconds, to limit how often long output is sent. */
  now: () => number;
  /** Words of the user are included, and each begins a turn: in a replay. */
  replay?: boolean;
  /** Whether an earlier turn has an item with this uuid: some agents count their messages from one in each. */
  isTaken?: (uuid: string) => boolean;
  /** Gets what the items name and do not hold. Without it they name nothing. */
  keep?: Keep | undefined;
  /** A name for an item without an id of the agent and without a neighbour that has one. Default: a random uuid. */
  unnamed?: () => string;
}

/** Words of the agent that are complete. */
export interface Spoken {
  uuid: string;
  content: string;
}

export interface Mapper {
  /** `at`: when it happened, ISO 8601; default: when it is written. */
  update(update: Fields, at?: string): Change[];
  /** A tool call as a permission request shows it. */
  call(call: Fields, at?: string): Change[];
  /** Output of a program without tool calls. */
  print(id: string, title: string, text: string): Change[];
  /** Closes the open words. */
  closeText(): Change[];
  /** Something that happened between the words. */
  mark(what: string, text: string, at?: string): Change[];
  /** Closes everything that is open. */
  close(how: 'ended' | 'cancelled' | 'interrupted'): Change[];
  /** The last words of the agent since this was reset. */
  last(): Spoken | undefined;
  forget(): void;
  /** Words that ended since the previous call, in order. */
  spoken(): Spoken[];
}

interface Open {
  uuid: string;
  kind: 'text' | 'thought' | 'user';
  messageId: string | undefined;
  content: string;
  bytes: number;
  /** Only whitespace so far: it is no item yet. */
  silent: boolean;
}

interface Tool {
  uuid: string;
  call: Fields;
  part: ToolPart;
  printed: Printed;
  /** The text of its content that is in the item. */
  taken: string;
  shownAt: number;
  /** Some of the output was not sent yet. */
  behind: boolean;
}

/** Not of ACP: a file of an agent records that the person ended the turn. */
export const cancelledUpdate = 'turn_cancelled';
export const cancelledText = 'Cancelled.';

const maxTools = 1000;
/** Finished calls that still accept updates: some agents send the output last. */
const maxFinished = 50;
const maxNames = 20_000;
/** Larger calls are not kept while they run. */
const maxCallBytes = 64 * 1024;
const showEveryMs = 2000;
const plainId = (_role: string, id: string, part: number) => (part === 1 ? id : `${id}#${part}`);

export function createMapper(options: MapperOptions): Mapper {
  const {
    sessionId,
    cwd,
    idOf = plainId,
    detail,
    thoughts,
    now,
    unnamed = randomUUID,
    isTaken = () => false,
  } = options;
  let { turn } = options;
  /** The last thing in this turn with an id of the agent. An item without an id is named after it. */
  let beside: string | undefined;
  /** Calls that were dropped because there were too many: later updates of them are ignored. */
  const gone = new Set<string>();
  const tools = new Map<string, Tool>();
  /** In the order in which they ended. */
  const finished = new Set<string>();
  /** Number of items of a message of the agent so far. */
  const parts = new Map<string, number>();
  let open: Open | undefined;
  let last: Spoken | undefined;
  let spoken: Spoken[] = [];
  let plan: string | undefined;
  let usage: string | undefined;

  const item = (uuid: string, more: Pick<NewItem, 'role' | 'content' | 'part'>, at: string | undefined): Change => ({
    op: 'put',
    item: { uuid, ...(turn === undefined ? {} : { turn }), ...more, ...(at === undefined ? {} : { timestamp: at }) },
  });

  const closeText = (): Change[] => {
    const closed = open;
    open = undefined;
    if (!closed || closed.silent) return [];
    if (closed.kind === 'text') {
      last = { uuid: closed.uuid, content: closed.content };
      spoken.push(last);
    }
    return closed.kind === 'user' ? [] : [{ op: 'set', uuid: closed.uuid, part: { open: null } }];
  };

  const uuidOf = (role: 'USER' | 'AGENT', messageId: string | undefined, kind: string): string => {
    if (messageId === undefined) return unnamed();
    for (let before = ''; ;) {
      const name = idOf(role, messageId, counted(`${kind} ${messageId}`));
      beside = kind === 'thought' ? `thought:${name}` : name;
      const uuid = foreignUuid(sessionId, beside);
      // The names of some agents have no parts.
      if (!isTaken(uuid) || name === before) return uuid;
      before = name;
    }
  };

  const counted = (key: string): number => {
    const count = (parts.get(key) ?? 0) + 1;
    parts.set(key, count);
    const [oldest] = parts.keys();
    if (parts.size > maxNames && oldest !== undefined) parts.delete(oldest);
    return count;
  };

  /** The same live and read again, as long as the item follows the same thing. */
  const uuidBeside = (kind: string): string => {
    if (beside === undefined) return unnamed();
    const name = `${kind}:${beside}`;
    for (;;) {
      const count = counted(name);
      const uuid = foreignUuid(sessionId, count === 1 ? name : `${name}#${count}`);
      if (!isTaken(uuid)) return uuid;
    }
  };

  /** A replay continues with the next turn. */
  const nextTurn = (uuid: string): Change[] => {
    const changes = endTools('interrupted');
    turn = uuid;
    plan = usage = beside = undefined;
    return changes;
  };

  const say = (kind: Open['kind'], update: Fields, at: string | undefined): Change[] => {
    const messageId = typeof update.messageId === 'string' ? update.messageId : undefined;
    const changes: Change[] = [];
    // A live agent may omit the id now and then; in a replay each message has its own, or none has.
    const areNamed = options.replay === true || (messageId !== undefined && open?.messageId !== undefined);
    const isOther = open && areNamed && messageId !== open.messageId;
    if (open && (open.kind !== kind || isOther)) changes.push(...closeText());
    const block = recordOf(update.content);
    if (block.type === 'image' && kind === 'text') return [...changes, ...closeText(), picture(block, at)];
    const limit = kind === 'thought' ? transcriptLimits.thoughtBytes : transcriptLimits.textBytes;
    let piece = pieceOf(open?.content ?? '', update.content);
    while (piece !== '') {
      const role = kind === 'user' ? 'USER' : 'AGENT';
      open ??= { uuid: '', kind, messageId, content: '', bytes: 0, silent: true };
      open.messageId ??= messageId;
      const head = keepHead(piece, Math.max(limit - open.bytes, 4));
      // Words of the user are one item, however long.
      piece = kind === 'user' ? '' : piece.slice(head.length);
      open.content += head;
      open.bytes += Buffer.byteLength(head, 'utf8');
      if (!open.silent)
        changes.push({ op: 'add', uuid: open.uuid, ...(kind === 'thought' ? { to: kind } : {}), text: head });
      else if (open.content.trim() !== '') {
        open.silent = false;
        open.uuid = uuidOf(role, open.messageId, kind);
        if (kind === 'user') changes.push(...nextTurn(open.uuid));
        const part = kind === 'user' ? { kind } : { kind, open: true };
        // Some agents put empty lines in front of a thought when live, but not in their files.
        if (kind === 'thought') open.content = open.content.trimStart();
        changes.push(item(open.uuid, { role, content: open.content, part }, at));
      }
      if (piece !== '') changes.push(...closeText());
    }
    return changes;
  };

  const picture = (block: Fields, at: string | undefined): Change => {
    const base64 = wordsOf(block.data);
    const [uuid, mime] = [uuidBeside('image'), wordsOf(block.mimeType).slice(0, 100)];
    const data = options.keep?.image(uuid, mime, base64) === true ? imageName : '';
    const part = { kind: 'image', data, mime, bytes: bytesOf(base64) };
    return item(uuid, { role: 'AGENT', content: pieceOf('', block).trim(), part }, at);
  };

  const show = (tool: Tool, hadMore = false): Change => {
    tool.shownAt = now();
    tool.behind = false;
    const { output, left } = tool.printed.shown();
    const more = options.keep ? { left, data: outputName } : { left };
    return {
      op: 'set',
      uuid: tool.uuid,
      part: { output, ...(left > 0 ? more : hadMore ? { left: null, data: null } : {}) },
    };
  };

  const print = (tool: Tool, text: string): Change[] => {
    if (text === '' || detail === 'outline') return [];
    tool.printed.add(text);
    if (tool.printed.whole()) return [{ op: 'add', uuid: tool.uuid, to: 'output', text }];
    if (now() - tool.shownAt >= showEveryMs) return [show(tool)];
    tool.behind = true;
    return [];
  };

  /** New content replaces the earlier one; most agents only add to it. */
  const take = (tool: Tool, content: string | undefined): Change[] => {
    if (content === undefined || content === tool.taken || detail === 'outline') return [];
    const before = tool.taken;
    tool.taken = content;
    if (content.startsWith(before)) return print(tool, content.slice(before.length));
    const hadMore = !tool.printed.whole();
    tool.printed.replace(content);
    return [show(tool, hadMore)];
  };

  const begin = (id: string, merged: Fields, at: string | undefined): { tool: Tool; changes: Change[] } => {
    const part = toolPart(merged, cwd, detail === 'outline');
    beside = `tool:${id}`;
    const uuid = foreignUuid(sessionId, beside);
    const tool: Tool = {
      uuid,
      call: merged,
      part,
      printed: createPrinted(options.keep && ((text, begins) => options.keep?.output(uuid, text, begins))),
      taken: '',
      shownAt: -Infinity,
      behind: false,
    };
    tools.set(id, tool);
    return {
      tool,
      changes: [...closeText(), ...letGo(), item(uuid, { role: 'AGENT', content: part.title, part: { ...part } }, at)],
    };
  };

  /** When there are more calls than are remembered, the oldest is closed, whatever happens to it. */
  const letGo = (): Change[] => {
    const [oldest] = tools;
    if (tools.size <= maxTools || oldest === undefined) return [];
    const [id, tool] = oldest;
    dismiss(id);
    return end(tool, 'interrupted');
  };
  const dismiss = (id: string) => {
    tools.delete(id);
    finished.delete(id);
    gone.add(id);
    const [first] = gone;
    if (gone.size > maxNames && first !== undefined) gone.delete(first);
  };
  /** A long turn has many calls: only the newest of those that ended are remembered. */
  const noteFinished = (id: string, { part }: Tool) => {
    finished.delete(id);
    // A replay is short-lived, and a file may name the calls of each turn alike.
    if (isRunning(part.status) || options.replay) return;
    finished.add(id);
    const [oldest] = finished;
    if (finished.size > maxFinished && oldest !== undefined) dismiss(oldest);
  };

  const end = (tool: Tool, status: string): Change[] => {
    if (!isRunning(tool.part.status)) return [];
    const changes = tool.behind ? [show(tool)] : [];
    tool.part = { ...tool.part, status };
    return [...changes, { op: 'set', uuid: tool.uuid, part: { status } }];
  };
  const endTools = (status: string): Change[] => [...tools.values()].flatMap((tool) => end(tool, status));

  const call = (update: Fields, at: string | undefined): Change[] => {
    const id = wordsOf(update.toolCallId);
    if (id === '' || gone.has(id)) return [];
    const known = tools.get(id);
    const merged = callAfter(known?.call, update);
    const changes: Change[] = [];
    const tool =
      known ??
      (() => {
        const begun = begin(id, merged, at);
        changes.push(...begun.changes);
        return begun.tool;
      })();
    const delta = recordOf(update._meta).terminal_output_delta;
    const piece = typeof delta === 'string' ? delta : wordsOf(recordOf(delta).data);
    changes.push(...(piece === '' ? take(tool, printedBy(merged)) : print(tool, piece)));
    if (known) {
      // Of a large call only the names were kept: its subject stays as it was sent. A diff may come with a permission alone.
      const { diffs } = known.part;
      const kept = known.call.cut === true ? known.part : diffs === undefined ? {} : { diffs };
      const part = { ...kept, ...toolPart(merged, cwd, detail === 'outline') };
      const patch = difference(tool.part, part);
      Object.assign(tool, { call: merged, part });
      if (!isRunning(part.status) && tool.behind) changes.push(show(tool));
      if (Object.keys(patch).length > 0)
        changes.push({
          op: 'set',
          uuid: tool.uuid,
          part: patch,
          ...(patch.title === undefined ? {} : { content: part.title }),
        });
    }
    noteFinished(id, tool);
    // Its input and its changes may be as large as a file.
    if (!isRunning(tool.part.status) || sizeOf(tool.call) > maxCallBytes)
      tool.call = { toolCallId: id, title: tool.part.title, kind: merged.kind, status: merged.status, cut: true };
    return changes;
  };

  const planned = (update: Fields, at: string | undefined): Change[] => {
    let left: number = transcriptLimits.planBytes;
    const entries = listOf(update.entries)
      .slice(0, transcriptLimits.planEntries)
      .map(({ content, status, priority }) => {
        const text = keepHead(wordsOf(content), left);
        left -= Buffer.byteLength(text, 'utf8');
        return {
          text,
          status: wordsOf(status) || 'pending',
          ...(wordsOf(priority) === '' ? {} : { priority: wordsOf(priority) }),
        };
      });
    if (plan !== undefined) return [{ op: 'set', uuid: plan, part: { entries }, content: contentOfPlan(entries) }];
    plan = uuidBeside('plan');
    return [item(plan, { role: 'AGENT', content: contentOfPlan(entries), part: { kind: 'plan', entries } }, at)];
  };

  const used = (update: Fields, at: string | undefined): Change[] => {
    const { amount, currency } = recordOf(update.cost);
    const cost = typeof amount === 'number' && typeof currency === 'string' ? { cost: { amount, currency } } : {};
    const fields = { ...natural('used', update.used), ...natural('size', update.size), ...cost };
    if (usage !== undefined) return [{ op: 'set', uuid: usage, part: fields }];
    usage = uuidBeside('usage');
    return [item(usage, { role: 'AGENT', content: '', part: { kind: 'usage', ...fields } }, at)];
  };

  const mark = (what: string, words: string, at: string | undefined): Change[] => {
    const text = keepHead(words, transcriptLimits.inputBytes);
    return [
      ...closeText(),
      item(uuidBeside(what), { role: 'SYSTEM', content: text, part: { kind: 'mark', what, text } }, at),
    ];
  };

  const close: Mapper['close'] = (how) => [...closeText(), ...endTools(how === 'ended' ? 'completed' : how)];

  return {
    call,
    mark,
    close,
    update(update, at) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          return say('text', update, at);
        case 'agent_thought_chunk':
          return thoughts && detail === 'full' ? say('thought', update, at) : [];
        case 'user_message_chunk':
          return options.replay ? say('user', update, at) : [];
        case 'tool_call':
        case 'tool_call_update':
          return call(update, at);
        case 'plan':
          return planned(update, at);
        case 'usage_update':
          return used(update, at);
        case 'current_mode_update':
          return mark('mode', wordsOf(update.currentModeId), at);
        case 'compaction_update':
          return update.status === 'completed' || update.status === undefined
            ? mark('compacted', wordsOf(update.summary), at)
            : [];
        case 'notice': {
          const words = [wordsOf(update.title), wordsOf(update.description)].filter((text) => text !== '').join(': ');
          return words === '' ? [] : mark('notice', words, at);
        }
        case cancelledUpdate:
          return [...close('cancelled'), ...mark('cancelled', cancelledText, at)];
        default:
          return [];
      }
    },
    print(id, title, text) {
      const known = tools.get(id);
      if (known) return print(known, text);
      const { tool, changes } = begin(id, { toolCallId: id, title, kind: 'execute', status: 'in_progress' }, undefined);
      return [...changes, ...print(tool, text)];
    },
    closeText,
    last: () => (open?.kind === 'text' && !open.silent ? { uuid: open.uuid, content: open.content } : last),
    forget: () => void (last = undefined),
    spoken() {
      const said = spoken;
      spoken = [];
      return said;
    },
  };
}

export const isRunning = (status: string): boolean => status === 'pending' || status === 'running';

const contentOfPlan = (entries: readonly { text: string }[]) => entries.map(({ text }) => `- ${text}`).join('\n');

/** Updates carry only what changed. */
function callAfter(before: Fields | undefined, update: Fields): Fields {
  const [old, now] = [recordOf(before?._meta), recordOf(update._meta)];
  const claudeCode = { ...recordOf(old.claudeCode), ...recordOf(now.claudeCode) };
  const meta = { ...old, ...now, ...(Object.keys(claudeCode).length === 0 ? {} : { claudeCode }) };
  const { cut: _cut, ...kept } = before ?? {};
  return { ...kept, ...present(update), ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) };
}

const sizeOf = (call: Fields) => JSON.stringify(call).length;

/** Of base64, as many as it decodes to. */
export const bytesOf = (base64: string): number =>
  Math.floor((base64.length * 3) / 4) - (/=*$/.exec(base64.slice(-2))?.[0].length ?? 0);

const natural = (name: string, value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? { [name]: Number(value) } : {};

const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** The patch (RFC 7396) that makes one part of the other. */
function difference(before: object, after: object): Record<string, unknown> {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const gone = Object.keys(old).filter((name) => !(name in now));
  const changed = Object.entries(now).filter(([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value));
  return { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((name) => [name, null])) };
}
