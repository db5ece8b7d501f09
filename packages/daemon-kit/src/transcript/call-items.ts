/** A call of a tool as its item: its part, its patches and its bounded output. */
import { transcriptLimits } from '@relay/protocol';
import { keepHead } from '../bounds.ts';
import type { StoreChange } from '../store.ts';
import { outputName } from '../contents.ts';
import type { BookedCall } from './call-book.ts';
import { isRunning } from './call-state.ts';
import type { MapperOptions } from './mapper-options.ts';
import type { Printed } from './output.ts';
import { type ToolPart, toolPart } from './tool.ts';

/** How a permission was answered. */
export interface PermissionAnswer {
  allowed: boolean;
  /** The person or the place, and the time (ISO 8601). */
  by?: string;
  at?: string;
}

export interface Tool extends BookedCall {
  uuid: string;
  part: ToolPart;
  printed: Printed;
  /** The part of its content that the item shows. */
  taken: string;
  about: string;
  question: string | undefined;
  shownAt: number;
  /** Part of the output was not sent yet. */
  behind: boolean;
}

const showEveryMs = 2000;

export function createCallItems({ cwd, detail, now, keep }: Pick<MapperOptions, 'cwd' | 'detail' | 'now' | 'keep'>) {
  const show = (tool: Tool, hadMore = false): StoreChange => {
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

  const print = (tool: Tool, text: string): StoreChange[] => {
    if (text === '' || detail === 'outline') return [];
    tool.printed.add(text);
    if (tool.printed.whole()) return [{ op: 'add', uuid: tool.uuid, to: 'output', text }];
    if (now() - tool.shownAt >= showEveryMs) return [show(tool)];
    tool.behind = true;
    return [];
  };

  /** New content replaces earlier content; most agents only append to it. */
  const take = (tool: Tool, content: string | undefined): { changes: StoreChange[]; printed: string } => {
    if (content === undefined || content === tool.taken) return { changes: [], printed: '' };
    const { taken } = tool;
    tool.taken = content;
    const isMore = content.startsWith(taken);
    const printed = isMore ? content.slice(taken.length) : content;
    if (detail === 'outline') return { changes: [], printed };
    if (isMore) return { changes: print(tool, printed), printed };
    const hadMore = !tool.printed.whole();
    tool.printed.replace(content);
    return { changes: [show(tool, hadMore)], printed };
  };

  const timeOf = (at: string | undefined) => at ?? new Date(now()).toISOString();
  const partOf = (
    { id, fields, about }: Pick<Tool, 'id' | 'fields' | 'about'>,
    status: string,
    { asked, ended }: Pick<ToolPart, 'asked' | 'ended'>,
  ): ToolPart => ({
    ...toolPart({ ...fields, toolCallId: id, status }, cwd, detail === 'outline'),
    ...(about === '' || detail === 'outline' ? {} : { about: keepHead(about, transcriptLimits.inputBytes) }),
    ...(asked === undefined ? {} : { asked }),
    ...(ended === undefined ? {} : { ended }),
  });

  const patch = (tool: Tool, part: ToolPart): StoreChange[] => {
    const changed = difference(tool.part, part);
    tool.part = part;
    if (Object.keys(changed).length === 0) return [];
    const content = changed.title === undefined ? {} : { content: part.title };
    return [{ op: 'set', uuid: tool.uuid, part: changed, ...content }];
  };

  /** The item after an update. */
  const renew = (
    tool: Tool,
    { status, question, at }: { status: string; question: string | undefined; at: string | undefined },
  ): StoreChange[] => {
    // Large calls keep only names: the subject stays as it was sent. A diff can come with a permission alone.
    const { diffs, ended, asked, ...subject } = tool.part;
    const kept = tool.fields.cut === true ? subject : {};
    const next = partOf(tool, status, {
      asked: question === undefined ? asked : { question },
      ended: isRunning(status) ? undefined : status === tool.part.status ? ended : timeOf(at),
    });
    const changes = !isRunning(status) && tool.behind ? [show(tool)] : [];
    return [...changes, ...patch(tool, { ...kept, ...(diffs === undefined ? {} : { diffs }), ...next })];
  };

  /** The item after the answer to its permission. */
  const answer = (tool: Tool, question: string | undefined, { allowed, by, at }: PermissionAnswer): StoreChange[] => {
    tool.answered = true;
    const when = timeOf(at);
    const asked = {
      ...(question === undefined ? {} : { question }),
      answer: allowed ? 'allowed' : 'rejected',
      ...(by === undefined ? {} : { by: keepHead(by, 512) }),
      at: when,
    };
    if (allowed) return patch(tool, { ...tool.part, asked });
    const isOver = !isRunning(tool.part.status) && tool.part.status !== 'unknown';
    Object.assign(tool, { rejected: !isOver, closed: true });
    const end = isOver ? {} : { status: 'rejected', ended: tool.part.ended ?? when };
    return patch(tool, { ...tool.part, asked, ...end });
  };

  return { show, print, take, timeOf, partOf, patch, renew, answer };
}

/** Returns the patch (RFC 7396) that turns one part into the other. */
function difference(before: object, after: object): Record<string, unknown> {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const gone = Object.keys(old).filter((name) => !(name in now));
  const changed = Object.entries(now).filter(([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value));
  return { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((name) => [name, null])) };
}
