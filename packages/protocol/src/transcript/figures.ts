/** Cost of a session and limits of the plan: figures of the agent, the same on every plane. */
import { type Static, Type, id, limits, line, list, maybe, record, text } from '../schema.ts';
import { word } from './question.ts';

export const Cost = record('Cost', 'An amount of money, as the agent estimates it.', {
  amount: Type.Number({ description: 'Amount' }),
  currency: line('ISO 4217'),
});

export const UsageLimit = record('UsageLimit', 'A limit of the plan that the agent runs on.', {
  id: id("Id of the limit: `five_hour`, `seven_day`, or the agent's own name for it"),
  name: text('Display name', { maxLength: limits.nameCharacters }),
  used: maybe(Type.Number({ description: 'Used share, from 0 to 1', minimum: 0, maximum: 1 })),
  resets: maybe(text('Time of its reset (ISO 8601)', { maxLength: limits.timeCharacters })),
  state: maybe(word(['allowed', 'warning', 'rejected'], 'How the plan treats further requests')),
  as_of: text('When the agent reported it (ISO 8601)', { maxLength: limits.timeCharacters }),
});

const maxUsageLimits = 10;
export const usageLimits = list(UsageLimit, 'Limits of the plan', { maxItems: maxUsageLimits });

export type Cost = Static<typeof Cost>;
export type UsageLimit = Static<typeof UsageLimit>;
