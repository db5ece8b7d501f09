/**
 * Updates of ACP → changes of a transcript (ADR 35): the same for a live turn, a replay and a reader of native files, so that a
 * session reads the same however it arrived. Pure but for the clock that it is given. An update of an unknown kind or shape is ignored.
 */
import { costIn, limitsIn, transcriptLimits } from '@relay/protocol';
import { keepHead } from '../bounds.ts';
import { offeredUpdate } from '../file-blocks.ts';
import { ownText } from '../own-texts.ts';
import type { StoreChange } from '../store.ts';
import type { Source } from './call-book.ts';
import type { PermissionAnswer } from './call-items.ts';
import { createCalls } from './calls.ts';
import { type Fields, listOf, recordOf, wordsOf } from './content.ts';
import type { MakeItem, MapperOptions } from './mapper-options.ts';
import { createNames } from './names.ts';
import { createOfferedFiles } from './offered-files.ts';
import { bareTitle } from './tool.ts';
import { endsWords, wordsEnd, notSentUpdate, settingUpdate } from './splitter.ts';
import { type CompletedText, createWords } from './words.ts';

/** The effect of an update, for reports beside the items. */
export interface Effect {
  /** The text before it is complete. */
  ended: boolean;
  /** The call that it began or changed, as far as it is known. */
  call?: Fields;
  /** The uuid of the item of that call. */
  uuid?: string;
  /** Output of that call that came with it. */
  printed: string;
}

export interface Mapper {
  /** `at`: when it happened, ISO 8601; default: when it is written. */
  update(update: Fields, at?: string): StoreChange[];
  /** A tool call as a permission request shows it. `question`: the uuid of its question. */
  call(call: Fields, question?: string): StoreChange[];
  /** The person's answer to a permission. */
  answered: (about: { question: string } | { call: Fields }, verdict: PermissionAnswer) => StoreChange[];
  /** The effect of the newest update or call. */
  effect(): Effect;
  /** The next turn begins. */
  begin(turn: string): void;
  /** Output of a program without tool calls. */
  print(id: string, title: string, text: string): StoreChange[];
  /** Closes the open text. */
  closeText(): StoreChange[];
  /** Adds a mark for an event between the texts. */
  mark(what: string, text: string, at?: string): StoreChange[];
  /** Closes everything that is open. */
  close(how: 'ended' | 'cancelled'): StoreChange[];
  /** The last text of the agent since this was reset. */
  last(): CompletedText | undefined;
  forget(): void;
  /** Texts completed since the previous call, in order. */
  takeTexts(): CompletedText[];
}

/** Not part of ACP: a file of an agent records that the person cancelled the turn. */
export const cancelledUpdate = 'turn_cancelled';
export const cancelledText = 'Cancelled.';
/** The program left in the middle of a turn. */
export const stoppedUpdate = 'turn_stopped';

export function createMapper(options: MapperOptions): Mapper {
  const { detail, thoughts, dropped = () => undefined } = options;
  let { turn } = options;
  let plan: string | undefined;
  /** The entries shown last; before the first plan of this turn, the newest earlier plan counts. */
  let entriesShown: string | undefined;
  let usage: string | undefined;
  /** The newest size of the context: an agent need not repeat it. */
  let size: unknown;
  /** Calls that are the plan of the agent, by id. */
  const planCalls = new Set<string>();
  let effect: Effect = { ended: false, printed: '' };
  const names = createNames(options);
  const item: MakeItem = (uuid, more, at) => ({
    op: 'put',
    item: { uuid, ...(turn === undefined ? {} : { turn }), ...more, ...(at === undefined ? {} : { timestamp: at }) },
  });
  const files = createOfferedFiles(options, { names, item });
  const begin = (uuid: string) => {
    turn = uuid;
    plan = usage = undefined;
    files.forget();
    names.forget();
    calls.turn();
  };
  const words = createWords(options, {
    names,
    item,
    onTurn(uuid) {
      const changes = calls.end('unknown');
      begin(uuid);
      return changes;
    },
  });
  const endWords = () => {
    if (words.open()) effect.ended = true;
    return words.close();
  };
  const calls = createCalls(options, { names, item, before: endWords });

  const called = (update: Fields, at: string | undefined, source: Source, question?: string): StoreChange[] => {
    const id = wordsOf(update.toolCallId);
    const todos = recordOf(update.rawInput).todos;
    if (planCalls.has(id) || isPlan(update)) {
      planCalls.add(id);
      return Array.isArray(todos) && todos.length > 0 ? planned({ entries: todos }, at) : [];
    }
    const { changes, ...what } = calls.update(update, at, source, question);
    effect = { ...effect, ...what };
    return [...changes, ...files.inCall(update, at)];
  };

  const planned = (update: Fields, at: string | undefined): StoreChange[] => {
    const entries = entriesOf(update);
    const before = entriesShown ?? options.newestPlan?.();
    entriesShown = JSON.stringify(entries);
    if (plan !== undefined) return [{ op: 'set', uuid: plan, part: { entries }, content: contentOfPlan(entries) }];
    // Claude Code's adapter repeats the plan when the next turn begins. Its files do not, and both have to read the same.
    if (entriesShown === before) return [];
    plan = names.beside('plan');
    return [item(plan, { role: 'AGENT', content: contentOfPlan(entries), part: { kind: 'plan', entries } }, at)];
  };

  const used = (update: Fields, at: string | undefined): StoreChange[] => {
    size = Object.keys(natural('size', update.size)).length > 0 ? update.size : size;
    const fields = usageIn(update, size);
    if (Object.keys(fields).length === 0) return [];
    if (usage !== undefined) return [{ op: 'set', uuid: usage, part: fields }];
    usage = names.beside('usage');
    return [item(usage, { role: 'AGENT', content: '', part: { kind: 'usage', ...fields } }, at)];
  };

  const mark = (what: string, markText: string, at: string | undefined, more: Fields = {}): StoreChange[] => {
    const text = keepHead(markText, transcriptLimits.inputBytes);
    return [
      ...endWords(),
      item(names.beside(what), { role: 'SYSTEM', content: text, part: { kind: 'mark', what, text, ...more } }, at),
    ];
  };

  const close: Mapper['close'] = (how) => [...words.close(), ...calls.end(how === 'ended' ? 'unknown' : how)];

  const changesOf = (update: Fields, at: string | undefined): StoreChange[] => {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return files.orElse(update, at, () => words.write('text', update, at));
      case 'agent_thought_chunk':
        return thoughts && detail === 'full' ? words.write('thought', update, at) : [];
      case 'user_message_chunk':
        // Live they are known already.
        if (options.replay) return words.write('user', update, at);
        dropped('an echo of the words of the user');
        return [];
      case 'tool_call':
        return called(update, at, 'call');
      case 'tool_call_update':
        return called(update, at, 'update');
      case 'plan':
        return planned(update, at);
      case 'usage_update':
        return used(update, at);
      case 'current_mode_update':
        return mark('mode', wordsOf(update.currentModeId), at);
      case settingUpdate: {
        const { text, by, danger } = update;
        const more = { ...(typeof by === 'string' ? { by } : {}), ...(danger === true ? { danger } : {}) };
        return mark('mode', wordsOf(text), at, more);
      }
      case 'compaction_update':
        return /^(?:completed)?$/.test(wordsOf(update.status)) ? mark('compacted', wordsOf(update.summary), at) : [];
      case offeredUpdate:
        return [...endWords(), ...files.offer(update, at)];
      case 'notice':
        return noticeIn(update) === '' ? [] : mark('notice', noticeIn(update), at);
      case notSentUpdate:
        return mark('notice', notSent.text, at, { reason: notSent.reason });
      case cancelledUpdate:
        return [...close('cancelled'), ...mark('cancelled', cancelledText, at)];
      case stoppedUpdate:
        return [...close('ended'), ...mark('interrupted', 'Stopped at the desk.', at)];
      default:
        if (!elsewhere.has(update.sessionUpdate)) dropped(`an update of the kind ${String(update.sessionUpdate)}`);
        return [];
    }
  };

  return {
    mark,
    close,
    begin(uuid) {
      begin(uuid);
      words.forget();
    },
    answered: calls.answered,
    effect: () => effect,
    call(call, question) {
      effect = { ended: false, printed: '' };
      return called(call, undefined, 'question', question);
    },
    update(update, at) {
      effect = { ended: false, printed: '' };
      const open = words.open();
      const before = open && endsWords(open, update, options.replay === true) ? endWords() : [];
      return [...before, ...changesOf(update, at)];
    },
    print: calls.print,
    closeText: words.close,
    ...{ last: words.last, forget: words.forget, takeTexts: words.takeTexts },
  };
}

const notSent = ownText('not_sent');

const noticeIn = ({ title, description }: Fields): string =>
  [wordsOf(title), wordsOf(description)].filter((text) => text !== '').join(': ');

/** The figures of use that an update contains, with the newest size of the context. */
function usageIn(update: Fields, size: unknown) {
  const cost = costIn(update.cost);
  const limits = limitsIn(update.limits);
  return {
    ...natural('used', update.used),
    ...natural('size', size),
    ...(cost ? { cost } : {}),
    ...(limits.length > 0 ? { limits } : {}),
  };
}

/** The steps of a plan, within its bound. */
function entriesOf(update: Fields) {
  let left: number = transcriptLimits.planBytes;
  return listOf(update.entries)
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
}

/** Some agents send their plan as the input of a tool. */
const isPlan = (call: Fields): boolean =>
  /^todo_?write$/i.test(bareTitle(call)) ||
  /^todo_?write$/i.test(wordsOf(call.name)) ||
  // OpenCode 1.18 replays it with this title.
  (/^\d+ todos?$/.test(bareTitle(call)) && listOf(recordOf(call.rawInput).todos).length > 0);

/** Kinds of updates that are kept apart from the items. */
const elsewhere: ReadonlySet<unknown> = new Set([
  'available_commands_update',
  'config_option_update',
  'session_info_update',
  wordsEnd,
]);

const contentOfPlan = (entries: readonly { text: string }[]) => entries.map(({ text }) => `- ${text}`).join('\n');

const natural = (name: string, value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? { [name]: Number(value) } : {};
