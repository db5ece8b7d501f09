/** The tool calls of a session as items: each begins once, changes by patches, and has a bounded output. */
import type { StoreChange } from '../store.ts';
import { type Source, createCallBook, isEnd } from './call-book.ts';
import { type PermissionAnswer, type Tool, createCallItems } from './call-items.ts';
import { isRunning, statusAfter, textsOf } from './call-state.ts';
import { type Fields, recordOf, wordsOf } from './content.ts';
import type { MakeItem, MapperOptions } from './mapper-options.ts';
import type { Names } from './names.ts';
import { createPrinted } from './output.ts';

/** The effect of an update on its call. */
interface CallUpdate {
  changes: StoreChange[];
  /** Returns the known state of the call; undefined if the update was dropped. */
  call?: Fields;
  /** The uuid of its item. */
  uuid?: string;
  /** Output that came with it. */
  printed: string;
}

interface Calls {
  /** A call, or an update of one. `question`: the uuid of the question that shows it. */
  update: (update: Fields, at: string | undefined, source: Source, question?: string) => CallUpdate;
  /** The answer to the question with this uuid, or to the permission for this call. */
  answered: (about: { question: string } | { call: Fields }, verdict: PermissionAnswer) => StoreChange[];
  /** Output of a program without tool calls. */
  print: (id: string, title: string, text: string) => StoreChange[];
  /** Gives every running call this status. */
  end: (status: string) => StoreChange[];
  /** The next turn begins: a repeated id names another call. */
  turn: () => void;
}

const maxTools = 1000;
/** Completed calls that still accept updates: some agents send the output last. */
const maxFinished = 50;
/** Larger calls are not kept while they run. */
const maxCallBytes = 64 * 1024;

export function createCalls(
  {
    cwd,
    detail,
    now,
    keep,
    replay,
    dropped,
  }: Pick<MapperOptions, 'cwd' | 'detail' | 'now' | 'keep' | 'replay' | 'dropped'>,
  {
    names,
    item,
    before,
  }: {
    names: Names;
    item: MakeItem;
    /** Closes the text before a call. */
    before: () => StoreChange[];
  },
): Calls {
  const book = createCallBook<Tool>();
  const { show, print, take, timeOf, partOf, patch, renew, answer } = createCallItems({ cwd, detail, now, keep });
  /** In order of completion. */
  const finished = new Set<Tool>();
  let turn = 0;

  const begin = (
    call: Pick<Tool, 'id' | 'fields' | 'announced'>,
    more: { status: string; about: string; question: string | undefined; at: string | undefined },
  ): { tool: Tool; changes: StoreChange[] } => {
    const { status, about, question, at } = more;
    const uuid = names.ofTool(call.id);
    const tool: Tool = {
      ...call,
      uuid,
      turn,
      reported: isEnd(status),
      closed: false,
      rejected: false,
      answered: false,
      part: partOf({ ...call, about }, status, {
        ...(question === undefined ? {} : { asked: { question } }),
        ...(isRunning(status) ? {} : { ended: timeOf(at) }),
      }),
      printed: createPrinted(keep && ((text, begins) => keep?.output(uuid, text, begins))),
      taken: '',
      about,
      question,
      shownAt: -Infinity,
      behind: false,
    };
    book.add(tool);
    const { part } = tool;
    return {
      tool,
      changes: [...before(), ...letGo(), item(uuid, { role: 'AGENT', content: part.title, part: { ...part } }, at)],
    };
  };

  /** Beyond the limit of remembered calls, the oldest is closed in any state. */
  const letGo = (): StoreChange[] => {
    if (book.size <= maxTools) return [];
    const [oldest] = book.all();
    if (oldest === undefined) return [];
    finished.delete(oldest);
    book.remove(oldest);
    return end(oldest, 'unknown');
  };
  /** A long session has many calls: only the newest completed ones are remembered. */
  const noteFinished = (tool: Tool) => {
    finished.delete(tool);
    // A replay is short-lived.
    if (isRunning(tool.part.status) || replay) return;
    finished.add(tool);
    const [oldest] = finished;
    if (finished.size <= maxFinished || oldest === undefined) return;
    finished.delete(oldest);
    book.remove(oldest);
  };

  const end = (tool: Tool, status: string, at?: string): StoreChange[] => {
    tool.closed = true;
    if (!isRunning(tool.part.status)) return [];
    const changes = tool.behind ? [show(tool)] : [];
    changes.push(...patch(tool, { ...tool.part, status, ended: timeOf(at) }));
    noteFinished(tool);
    return changes;
  };

  const update = (update: Fields, at: string | undefined, source: Source, question?: string): CallUpdate => {
    const current = book.find(update, source, turn);
    const id = wordsOf(update.toolCallId);
    const isGone = !current && book.isGone(update, source);
    if (isGone || (!current && id === '' && source !== 'question')) {
      dropped?.(isGone ? 'news of a call of long ago' : 'a call without an id');
      return { changes: [], printed: '' };
    }
    const fields = callAfter(current?.fields, update);
    const status = statusAfter(current, current?.part.status ?? '', update, source);
    const texts = textsOf(update, source, current?.about ?? '', status);
    const about = texts.about ?? current?.about ?? '';
    const { tool, changes } = current
      ? { tool: current, changes: [] as StoreChange[] }
      : begin(
          { id: id === '' ? `permission ${question ?? ''}` : id, fields, announced: source !== 'question' },
          { status, about, question, at },
        );
    const content = take(tool, texts.output);
    changes.push(...content.changes, ...print(tool, texts.piece));
    if (current) {
      const announces = source !== 'question' && !current.announced;
      Object.assign(current, { fields, about, question: question ?? current.question });
      if (announces) Object.assign(current, { announced: true, id });
      if (isEnd(update.status) && source !== 'question') current.reported = true;
      // The call runs again after its turn: its result is reported, or unknown when this turn completes.
      if (isRunning(status)) current.closed = false;
      changes.push(...renew(current, { status, question, at }));
    }
    noteFinished(tool);
    const call = { ...tool.fields, toolCallId: tool.id, status: update.status ?? tool.fields.status };
    if (!isRunning(tool.part.status) || sizeOf(tool.fields) > maxCallBytes) tool.fields = shortened(tool, fields.kind);
    return { changes, call, uuid: tool.uuid, printed: content.printed + texts.piece };
  };

  const answered: Calls['answered'] = (about, verdict) => {
    const tool =
      'question' in about
        ? book.all().findLast(({ question }) => question === about.question)
        : book.find(about.call, 'question', turn);
    if (!tool) return [];
    const changes = answer(tool, 'question' in about ? about.question : undefined, verdict);
    noteFinished(tool);
    return changes;
  };

  return {
    update,
    answered,
    print(id, title, text) {
      const current = book.find({ toolCallId: id }, 'update', turn);
      if (current) return print(current, text);
      const fields = { title, kind: 'execute' };
      const more = { status: 'running', about: '', question: undefined, at: undefined };
      const { tool, changes } = begin({ id, fields, announced: true }, more);
      return [...changes, ...print(tool, text)];
    },
    end: (status) => book.all().flatMap((tool) => end(tool, status)),
    turn: () => void (turn += 1),
  };
}

/** Updates carry only changed fields. */
function callAfter(before: Fields | undefined, update: Fields): Fields {
  const [old, now] = [recordOf(before?._meta), recordOf(update._meta)];
  const claudeCode = { ...recordOf(old.claudeCode), ...recordOf(now.claudeCode) };
  const meta = { ...old, ...now, ...(Object.keys(claudeCode).length === 0 ? {} : { claudeCode }) };
  return { ...before, ...present(update), ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) };
}

/** A call without its input and its changes, which can be as large as a file. */
function shortened({ fields, part }: Tool, kind: unknown): Fields {
  const { rawInput } = fields;
  return { title: part.title, kind, ...(sizeOf({ rawInput }) > maxCallBytes ? {} : { rawInput }), cut: true };
}

const sizeOf = (call: Fields) => JSON.stringify(call).length;

/** The fields that have a value. */
export const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
