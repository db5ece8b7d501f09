/** Questions of a daemon in the language of the pages: its caps on cost, and sessions that another program has open. A chunk of its own. */
import type { Prompt } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { money } from '../usage/figures.ts';

const dollars = (amount: number): string =>
  money({ amount, currency: 'USD' }).replace(Number.isInteger(amount) ? /[.,]00/ : '', '');

export type Asked = Pick<Prompt, 'prompt' | 'options' | 'reason'>;

/** The question with our texts; unchanged for a reason that is unknown here. */
export function inOwnTexts<P extends Asked>(prompt: P): P {
  const { code, spent = 0, next = 0, program = '', state = '', minutes = 0 } = prompt.reason!;
  const { asks } = words;
  const titles: Readonly<Record<string, () => string>> = {
    cap_session: () => asks.session(dollars(spent)),
    capped: () => asks.capped(dollars(spent), dollars(next)),
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
