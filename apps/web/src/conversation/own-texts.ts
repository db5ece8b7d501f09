/** Questions and sentences of a daemon in the language of the pages. A chunk of its own. */
import type { Prompt } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { type LogItem, isCapped } from '../transcript/items.ts';
import { money } from '../usage/figures.ts';

const dollars = (amount: number): string =>
  money({ amount, currency: 'USD' }).replace(Number.isInteger(amount) ? /[.,]00/ : '', '');

export type PromptTexts = Pick<Prompt, 'prompt' | 'options' | 'reason'>;

/** The question with our texts; unchanged for a reason that is unknown here. */
export function inOwnTexts<P extends PromptTexts>(prompt: P): P {
  const { code, spent = 0, next = 0, program = '', state = '', minutes = 0 } = prompt.reason!;
  const { asks } = words;
  const titles: Readonly<Record<string, () => string>> = {
    cap_session: () => asks.session(dollars(spent)),
    cap_day: () => asks.day(dollars(spent)),
    held: () => asks.held(program, state, minutes),
    held_likely: () => asks.likely(program),
    held_shared: () => asks.shared(program),
    held_foreign: () => asks.foreign(program),
  };
  const title = titles[code];
  if (!title) return prompt;
  const stops = code === 'held' && (state === 'busy' || state === 'waiting');
  const labels = new Map(Object.entries(asks.options(dollars(next), stops)));
  const options = prompt.options.map((option) => ({ ...option, label: labels.get(option.id ?? '') ?? option.label }));
  return { ...prompt, prompt: title(), options };
}

const cache = new WeakMap<LogItem, LogItem>();

/** The item with our text, if the daemon wrote its text; one object per item, so that unchanged items are not rendered again. */
export function inOwnText(item: LogItem): LogItem {
  const text = textFor(item);
  if (text === undefined) return item;
  const before = cache.get(item);
  if (before) return before;
  const { part } = item;
  const own = { ...item, content: text, part: part.kind === 'mark' ? { ...part, text } : part };
  cache.set(item, own);
  return own;
}

function textFor(item: LogItem): string | undefined {
  const { spent, cap, reason } = item.part;
  if (isCapped(item) && typeof spent === 'number' && typeof cap === 'number')
    return words.asks.capped(dollars(spent), dollars(cap));
  const { code, name } = (reason ?? {}) as Record<string, unknown>;
  const sentence = new Map<unknown, (name: string) => string>(Object.entries(words.asks.texts)).get(code);
  return sentence?.(typeof name === 'string' ? name : '');
}
