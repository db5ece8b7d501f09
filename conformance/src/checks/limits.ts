/** Rate limits (specification §8; rules, 6.10). These checks use up the user's limits, so they come last. */
import { type Check, specification } from '../check.ts';
import { Unmet, matches, must, same, show } from '../expect.ts';
import type { Answer } from '../http.ts';
import type { World } from '../world.ts';

const atOnce = 10;

/** Sends until the relay answers 429; at most twice the limit of one window, because a window can expire on the way. */
async function untilRefused(limit: number, send: () => Promise<Answer>): Promise<Answer> {
  for (let sent = 0; sent <= 2 * limit; sent += atOnce) {
    const answers = await Promise.all(Array.from({ length: atOnce }, send));
    const refused = answers.find(({ status }) => status === 429);
    if (refused) return refused;
  }
  throw new Unmet(`expected 429 after ${limit} requests within a minute, more than ${2 * limit} were let through`);
}

/**
 * Waits for the next window if fewer requests are left: the limit of all routes would refuse before the tested limit.
 */
async function waitForRoom({ rest }: World, requests: number): Promise<void> {
  const { headers } = await rest.ok('me');
  if (Number(headers['x-ratelimit-remaining']) >= requests) return;
  const endsInMs = Number(headers['x-ratelimit-reset']) * 1000 - Date.now();
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, endsInMs) + 1000));
}

/** `X-RateLimit-Limit` is the configured limit; by default the number of the specification. */
function fitsLimit(answer: Answer, limit: number): void {
  const { headers } = answer;
  same(
    headers['x-ratelimit-limit'],
    String(limit),
    'header X-RateLimit-Limit (--rate-limit and --create-limit tell what is configured)',
  );
  matches(headers['x-ratelimit-remaining'], /^\d+$/, 'header X-RateLimit-Remaining');
  must(
    Number(headers['x-ratelimit-remaining']) <= limit,
    `expected at most ${limit} remaining, came ${headers['x-ratelimit-remaining']}`,
  );
  const resetAt = Number(headers['x-ratelimit-reset']);
  const now = Date.parse(headers.date ?? '') / 1000 || Date.now() / 1000;
  must(
    Number.isInteger(resetAt) && resetAt >= now - 2 && resetAt <= now + 62,
    `header X-RateLimit-Reset: expected a Unix time in seconds within the next minute, came ${headers['x-ratelimit-reset']} at ${now}`,
  );
}

function fitsRefusal(answer: Answer, limit: number): void {
  const { error, code, status, retryAfter } = (answer.body ?? {}) as Record<string, unknown>;
  same([typeof error, code, status], ['string', 'RATE_LIMITED', 429], 'error, code, status');
  must(
    Number.isInteger(retryAfter) && Number(retryAfter) >= 1 && Number(retryAfter) <= 61,
    `retryAfter: expected whole seconds up to a minute, came ${show(retryAfter)}`,
  );
  same(answer.headers['retry-after'], String(retryAfter), 'header Retry-After');
  same(answer.headers['x-ratelimit-remaining'], '0', 'header X-RateLimit-Remaining');
  fitsLimit(answer, limit);
}

export const limits: readonly Check[] = [
  specification(
    '§8',
    ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
    'answers carry the limit, what remains of it, and when the window ends',
    async ({ rest, limits: { perMinute } }: World) => {
      const first = await rest.ok('me');
      fitsLimit(first, perMinute);
      const second = await rest.ok('me');
      const [before, after] = [first, second].map(({ headers }) => Number(headers['x-ratelimit-remaining']));
      const windowEnded = first.headers['x-ratelimit-reset'] !== second.headers['x-ratelimit-reset'];
      must(windowEnded || after! < before!, `expected fewer requests left than ${before}, came ${after}`);
    },
  ),
  specification(
    '§8',
    'Session creation',
    '10 requests per minute, then 429 RATE_LIMITED with Retry-After; other routes go on',
    async (world) => {
      const { rest } = world;
      const { creations } = world.limits;
      await waitForRoom(world, 2 * creations + atOnce);
      const refused = await untilRefused(creations, () => rest.call('createSession', { body: {}, untilLimit: true }));
      fitsRefusal(refused, creations);
      await rest.ok('me');
    },
  ),
  specification(
    '§8',
    'Most REST endpoints',
    '100 requests per minute, then 429 RATE_LIMITED with Retry-After; /health goes on',
    async ({ rest, limits: { perMinute } }) => {
      const refused = await untilRefused(perMinute, () => rest.call('me', { untilLimit: true }));
      fitsRefusal(refused, perMinute);
      await rest.ok('health');
    },
  ),
];
