/** Limits of a person's plan, in the form of each agent that reports them. Pure. */
import type { UsageLimit } from '@relay/protocol';
import { type Fields, recordOf } from '@relay/daemon-kit';

const states: Readonly<Record<string, string>> = {
  allowed: 'allowed',
  allowed_warning: 'warning',
  rejected: 'rejected',
};

const names: Readonly<Record<string, string>> = {
  five_hour: '5 hours',
  seven_day: '7 days',
  seven_day_opus: '7 days, Opus',
  seven_day_sonnet: '7 days, Sonnet',
  overage: 'Extra usage',
};

/** The limit in an update of Claude Code's adapter, which reports one at a time. */
export function claudeLimit(update: Fields, nowMs: number): UsageLimit | undefined {
  const { status, resetsAt, rateLimitType: id, utilization } = recordOf(recordOf(update._meta)['_claude/rateLimit']);
  if (typeof id !== 'string' || id === '') return undefined;
  const state = typeof status === 'string' ? states[status] : undefined;
  return {
    id,
    name: names[id] ?? id.replaceAll('_', ' '),
    ...usedOf(utilization),
    ...resetsOf(resetsAt),
    ...(state === undefined ? {} : { state }),
    as_of: new Date(nowMs).toISOString(),
  };
}

/** The limits in a row `token_count` of Codex's session file. `at`: the time of the row. */
export function codexLimits(rateLimits: unknown, at: string): UsageLimit[] {
  return (['primary', 'secondary'] as const).flatMap((name) => {
    const {
      used_percent: percent,
      window_minutes: minutes,
      resets_at: resetsAt,
    } = recordOf(recordOf(rateLimits)[name]);
    if (typeof percent !== 'number' || typeof minutes !== 'number') return [];
    const used = percent / 100;
    return { ...windowOf(minutes, name), ...usedOf(used), ...resetsOf(resetsAt), as_of: at };
  });
}

const windowOf = (minutes: number, name: string): Pick<UsageLimit, 'id' | 'name'> => {
  // The adapter rounds: a week has 10,079 minutes in some versions.
  if (Math.abs(minutes - 300) <= 1) return { id: 'five_hour', name: '5 hours' };
  if (Math.abs(minutes - 10_080) <= 1) return { id: 'seven_day', name: '7 days' };
  const hours = Math.round(minutes / 60);
  return { id: name, name: hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days` };
};

const usedOf = (used: unknown) =>
  typeof used === 'number' && used >= 0 ? { used: Math.round(Math.min(used, 1) * 1000) / 1000 } : {};

/** Seconds since 1970. */
const resetsOf = (seconds: unknown) => {
  const at = typeof seconds === 'number' ? new Date(seconds * 1000) : undefined;
  return at && !Number.isNaN(at.getTime()) ? { resets: at.toISOString() } : {};
};
