/**
 * Updates of ACP → changes of a transcript (ADR 35): the same for a live turn, a replay and a reader of native files, so that a
 * session reads the same however it arrived. Pure but for the clock that it is given. An update of an unknown kind or shape is ignored.
 */
import { transcriptLimits } from '@relay/protocol';
import { keepHead } from '../bounds.ts';
import type { Change } from '../store.ts';
import { createCalls } from './calls.ts';
import { type Fields, listOf, recordOf, wordsOf } from './content.ts';
import type { MakeItem, MapperOptions } from './mapper-options.ts';
import { createNames } from './names.ts';
import { type Spoken, createWords } from './words.ts';

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

/** Not of ACP: a file of an agent records that the person ended the turn. */
export const cancelledUpdate = 'turn_cancelled';
export const cancelledText = 'Cancelled.';

export function createMapper(options: MapperOptions): Mapper {
  const { detail, thoughts } = options;
  let { turn } = options;
  let plan: string | undefined;
  /** Its entries; of an earlier turn as long as this one has none. */
  let entriesShown: string | undefined;
  let usage: string | undefined;
  const names = createNames(options);
  const item: MakeItem = (uuid, more, at) => ({
    op: 'put',
    item: { uuid, ...(turn === undefined ? {} : { turn }), ...more, ...(at === undefined ? {} : { timestamp: at }) },
  });
  const words = createWords(options, {
    names,
    item,
    onTurn(uuid) {
      const changes = calls.end('interrupted');
      turn = uuid;
      plan = usage = undefined;
      names.forget();
      return changes;
    },
  });
  const calls = createCalls(options, { names, item, before: words.close });

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
    const before = entriesShown ?? options.newestPlan?.();
    entriesShown = JSON.stringify(entries);
    if (plan !== undefined) return [{ op: 'set', uuid: plan, part: { entries }, content: contentOfPlan(entries) }];
    // Claude Code's adapter repeats the plan when the next turn begins. Its files do not, and both have to read the same.
    if (entriesShown === before) return [];
    plan = names.beside('plan');
    return [item(plan, { role: 'AGENT', content: contentOfPlan(entries), part: { kind: 'plan', entries } }, at)];
  };

  const used = (update: Fields, at: string | undefined): Change[] => {
    const { amount, currency } = recordOf(update.cost);
    const cost = typeof amount === 'number' && typeof currency === 'string' ? { cost: { amount, currency } } : {};
    const fields = { ...natural('used', update.used), ...natural('size', update.size), ...cost };
    if (usage !== undefined) return [{ op: 'set', uuid: usage, part: fields }];
    usage = names.beside('usage');
    return [item(usage, { role: 'AGENT', content: '', part: { kind: 'usage', ...fields } }, at)];
  };

  const mark = (what: string, said: string, at: string | undefined): Change[] => {
    const text = keepHead(said, transcriptLimits.inputBytes);
    return [
      ...words.close(),
      item(names.beside(what), { role: 'SYSTEM', content: text, part: { kind: 'mark', what, text } }, at),
    ];
  };

  const close: Mapper['close'] = (how) => [...words.close(), ...calls.end(how === 'ended' ? 'completed' : how)];

  return {
    call: calls.update,
    mark,
    close,
    update(update, at) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          return words.say('text', update, at);
        case 'agent_thought_chunk':
          return thoughts && detail === 'full' ? words.say('thought', update, at) : [];
        case 'user_message_chunk':
          // Live they are known already, and only end the message of the agent before them.
          return options.replay ? words.say('user', update, at) : words.close();
        case 'tool_call':
        case 'tool_call_update':
          return calls.update(update, at);
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
          const said = [wordsOf(update.title), wordsOf(update.description)].filter((text) => text !== '').join(': ');
          return said === '' ? [] : mark('notice', said, at);
        }
        case cancelledUpdate:
          return [...close('cancelled'), ...mark('cancelled', cancelledText, at)];
        default:
          return [];
      }
    },
    print: calls.print,
    closeText: words.close,
    last: words.last,
    forget: words.forget,
    spoken: words.spoken,
  };
}

const contentOfPlan = (entries: readonly { text: string }[]) => entries.map(({ text }) => `- ${text}`).join('\n');

const natural = (name: string, value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? { [name]: Number(value) } : {};
