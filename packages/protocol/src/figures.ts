/** Reads figures of use by their shape: agents report them, and no relay checks them. Plain: browsers use it too. */
import type { Cost, UsageLimit } from './transcript/figures.ts';

const maxAmount = 1_000_000;
const maxLimits = 10;

/** Undefined for an invalid amount: negative, huge, or with a currency that does not have three letters. */
export function costIn(value: unknown): Cost | undefined {
  const { amount, currency } = (value ?? {}) as Record<string, unknown>;
  if (typeof amount !== 'number' || !(amount >= 0 && amount <= maxAmount)) return undefined;
  return typeof currency === 'string' && /^[A-Za-z]{3}$/.test(currency)
    ? { amount, currency: currency.toUpperCase() }
    : undefined;
}

/** The limits that have an id, a name and a time. */
export function limitsIn(value: unknown): UsageLimit[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, maxLimits).flatMap((one: unknown) => {
    const { id, name, used, resets, state, as_of: at } = (one ?? {}) as Record<string, unknown>;
    if (!isShort(id) || !isShort(name) || !isTime(at)) return [];
    return {
      id,
      name,
      ...(typeof used === 'number' && used >= 0 ? { used: Math.min(used, 1) } : {}),
      ...(isTime(resets) ? { resets } : {}),
      ...(isShort(state) ? { state } : {}),
      as_of: at,
    };
  });
}

const isShort = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 200;
const isTime = (value: unknown): value is string => isShort(value) && !Number.isNaN(Date.parse(value));
