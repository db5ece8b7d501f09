/** The tool calls of a turn as items: each begins once, changes by patches, and has a bounded output. */
import type { Change } from '../store.ts';
import { outputName } from '../contents.ts';
import { type Fields, recordOf, wordsOf } from './content.ts';
import type { MakeItem, MapperOptions } from './mapper-options.ts';
import type { Names } from './names.ts';
import { type Printed, createPrinted } from './output.ts';
import { type ToolPart, printedBy, toolPart } from './tool.ts';

interface Calls {
  /** A call, or an update of one. */
  update: (update: Fields, at: string | undefined) => Change[];
  /** Output of a program without tool calls. */
  print: (id: string, title: string, text: string) => Change[];
  /** Gives every running call this status. */
  end: (status: string) => Change[];
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

const maxTools = 1000;
/** Finished calls that still accept updates: some agents send the output last. */
const maxFinished = 50;
const maxGone = 20_000;
/** Larger calls are not kept while they run. */
const maxCallBytes = 64 * 1024;
const showEveryMs = 2000;

export function createCalls(
  { cwd, detail, now, keep, replay }: Pick<MapperOptions, 'cwd' | 'detail' | 'now' | 'keep' | 'replay'>,
  {
    names,
    item,
    before,
  }: {
    names: Names;
    item: MakeItem;
    /** Closes the words before a call. */
    before: () => Change[];
  },
): Calls {
  /** Calls that were dropped because there were too many: later updates of them are ignored. */
  const gone = new Set<string>();
  const tools = new Map<string, Tool>();
  /** In the order in which they ended. */
  const finished = new Set<string>();

  const show = (tool: Tool, hadMore = false): Change => {
    tool.shownAt = now();
    tool.behind = false;
    const { output, left } = tool.printed.shown();
    const more = keep ? { left, data: outputName } : { left };
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
    const { taken } = tool;
    tool.taken = content;
    if (content.startsWith(taken)) return print(tool, content.slice(taken.length));
    const hadMore = !tool.printed.whole();
    tool.printed.replace(content);
    return [show(tool, hadMore)];
  };

  const begin = (id: string, merged: Fields, at: string | undefined): { tool: Tool; changes: Change[] } => {
    const part = toolPart(merged, cwd, detail === 'outline');
    const uuid = names.ofTool(id);
    const tool: Tool = {
      uuid,
      call: merged,
      part,
      printed: createPrinted(keep && ((text, begins) => keep?.output(uuid, text, begins))),
      taken: '',
      shownAt: -Infinity,
      behind: false,
    };
    tools.set(id, tool);
    return {
      tool,
      changes: [...before(), ...letGo(), item(uuid, { role: 'AGENT', content: part.title, part: { ...part } }, at)],
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
    if (gone.size > maxGone && first !== undefined) gone.delete(first);
  };
  /** A long turn has many calls: only the newest of those that ended are remembered. */
  const noteFinished = (id: string, { part }: Tool) => {
    finished.delete(id);
    // A replay is short-lived, and a file may name the calls of each turn alike.
    if (isRunning(part.status) || replay) return;
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
    const { tool, changes } = known ? { tool: known, changes: [] } : begin(id, merged, at);
    const piece = pieceOfTerminal(update);
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

  return {
    update: call,
    print(id, title, text) {
      const known = tools.get(id);
      if (known) return print(known, text);
      const { tool, changes } = begin(id, { toolCallId: id, title, kind: 'execute', status: 'in_progress' }, undefined);
      return [...changes, ...print(tool, text)];
    },
    end: endTools,
  };
}

/** Output of a terminal of the agent, as it comes. */
function pieceOfTerminal({ _meta: meta }: Fields): string {
  const delta = recordOf(meta).terminal_output_delta;
  return typeof delta === 'string' ? delta : wordsOf(recordOf(delta).data);
}

const isRunning = (status: string): boolean => status === 'pending' || status === 'running';

/** Updates carry only what changed. */
function callAfter(before: Fields | undefined, update: Fields): Fields {
  const [old, now] = [recordOf(before?._meta), recordOf(update._meta)];
  const claudeCode = { ...recordOf(old.claudeCode), ...recordOf(now.claudeCode) };
  const meta = { ...old, ...now, ...(Object.keys(claudeCode).length === 0 ? {} : { claudeCode }) };
  return { ...before, ...present(update), ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) };
}

const sizeOf = (call: Fields) => JSON.stringify(call).length;

/** The fields that have a value. */
export const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** The patch (RFC 7396) that makes one part of the other. */
function difference(before: object, after: object): Record<string, unknown> {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const gone = Object.keys(old).filter((name) => !(name in now));
  const changed = Object.entries(now).filter(([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value));
  return { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((name) => [name, null])) };
}
