/**
 * Rate limits (specification §8; rules, 6.10): fixed windows, counted for all instances together over the backplane. While that
 * is away every instance counts for itself (`shared-limiter.ts`). Every answer of a limited route
 * carries the three headers, of the tighter limit if two apply.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { RelayError } from '@relay/protocol';
import type { Shared } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import type { Express, NextFunction, Request, Response } from 'express';
import { networkOfRequest } from './address.ts';
import type { Answering } from './asking.ts';
import type { LateRefusals } from './late-refusals.ts';
import { type LimitState, type Limiter, createSharedLimiters } from './shared-limiter.ts';

export interface RateLimits {
  /** Counts one request of a user, or of an address when no one is signed in. @throws RelayError RATE_LIMITED */
  request(response: Answering, who: string): Promise<void>;
  /** Counts one POST /api/sessions as well. @throws RelayError RATE_LIMITED */
  sessionCreation(response: Answering, who: string): Promise<void>;
  /** Counts one turn that an agent starts. @throws RelayError TOO_MANY_AGENT_TURNS */
  agentTurn(response: Answering, userId: string): Promise<void>;
  /** Counts one export of an account as well: it reads everything a person has. @throws RelayError RATE_LIMITED */
  accountExport(response: Answering, userId: string): Promise<void>;
  /** Counts one question about files as well: each starts programs on a machine. @throws RelayError RATE_LIMITED */
  files(response: Answering, userId: string): Promise<void>;
  /** Counts one piece of a file. @throws RelayError RATE_LIMITED */
  pieces(response: Answering, who: string): Promise<void>;
  /**
   * Notes that a piece of a file is in memory, until the returned function is called.
   * @throws RelayError SERVICE_UNAVAILABLE: this person, or this instance, holds too many
   */
  holdPiece(who: string): () => void;
  /** Counts one test of an address to notify as well. @throws RelayError RATE_LIMITED */
  pushTest(response: Answering, userId: string): Promise<void>;
  /**
   * Counts a user code as wrong before it is looked at, so that guesses at the same time count like those one after another. The right
   * codes of others at the same time count only while they are looked at: a code that is over the limit waits for them.
   * Returns the function that takes it back. @throws RelayError RATE_LIMITED, after most of a second
   */
  guess(userId: string, address: string): Promise<() => Promise<void>>;
}

const agentWindowMs = 3_600_000;
const exportWindowMs = 600_000;
const exportsPerUser = 6;
const pushTestWindowMs = 600_000;
const pushTestsPerUser = 10;
const filesPerMinute = 60;
const piecesPerMinute = 300;
/** Pieces of files in memory at the same time: of a person, and of this instance. */
const piecesOfPerson = 4;
const piecesOfInstance = 64;
const guessWindowMs = 600_000;
const guessesPerUser = 5;
const guessesPerAddress = 20;
/** Between tries to count a guess. */
const guessPausesMs = [100, 200, 400];

export function createRateLimits(
  config: Pick<RelayConfig, 'rateLimitPerMinute' | 'sessionCreatePerMinute' | 'rateWindowMs' | 'agentTurnsPerHour'>,
  backplane: Pick<Shared, 'count'>,
  late: LateRefusals,
): RateLimits {
  const limiter = createSharedLimiters(backplane);
  const requests = limiter('requests', config.rateLimitPerMinute, config.rateWindowMs);
  const creations = limiter('creations', config.sessionCreatePerMinute, config.rateWindowMs);
  const agentTurns = limiter('agent-turns', config.agentTurnsPerHour, agentWindowMs);
  const exports = limiter('exports', exportsPerUser, exportWindowMs);
  const files = limiter('files', filesPerMinute, config.rateWindowMs);
  const pieces = limiter('pieces', piecesPerMinute, config.rateWindowMs);
  const holdPiece = createHolds();
  const pushTests = limiter('push-tests', pushTestsPerUser, pushTestWindowMs);
  const userGuesses = limiter('user-guesses', guessesPerUser, guessWindowMs);
  const addressGuesses = limiter('address-guesses', guessesPerAddress, guessWindowMs);

  const consume = async (limit: Limiter, response: Answering, who: string, refusal = tooMany) => {
    const counted = await limit.count(who);
    show(response, limit.points, counted);
    if (!counted.over) return;
    await late.pause(who);
    throw refusal(counted);
  };
  const countGuess = async (userId: string, address: string) => {
    const counted: (() => Promise<void>)[] = [];
    const takeBack = async () => {
      await Promise.all(counted.map((undo) => undo()));
    };
    for (const [limit, who] of [
      [userGuesses, userId],
      [addressGuesses, address],
    ] as const) {
      const guess = await limit.count(who);
      counted.push(() => limit.takeBack(who));
      if (guess.over) return { over: guess, takeBack };
    }
    return { takeBack };
  };
  const tooManyTurns = ({ windowLeftMs }: LimitState) =>
    new RelayError(
      'TOO_MANY_AGENT_TURNS',
      `Agents started ${config.agentTurnsPerHour} turns in this hour, which is the limit. Stop, and tell the person.`,
      { retryAfter: Math.max(1, Math.ceil(windowLeftMs / 1000)) },
    );

  return {
    request: (response, who) => consume(requests, response, who),
    sessionCreation: (response, who) => consume(creations, response, who),
    agentTurn: (response, userId) => consume(agentTurns, response, userId, tooManyTurns),
    accountExport: (response, userId) => consume(exports, response, userId),
    files: (response, userId) => consume(files, response, userId),
    pieces: (response, who) => consume(pieces, response, who),
    holdPiece,
    pushTest: (response, userId) => consume(pushTests, response, userId),
    guess: async (userId, address) => {
      let guess = await countGuess(userId, address);
      for (const pauseMs of guessPausesMs) {
        if (!guess.over) return guess.takeBack;
        await guess.takeBack();
        await delay(pauseMs);
        guess = await countGuess(userId, address);
      }
      if (!guess.over) return guess.takeBack;
      await guess.takeBack();
      throw tooMany(guess.over);
    },
  };
}

function createHolds(): RateLimits['holdPiece'] {
  const held = new Map<string, number>();
  let all = 0;
  return (who) => {
    const own = held.get(who) ?? 0;
    if (own >= piecesOfPerson || all >= piecesOfInstance)
      throw new RelayError('SERVICE_UNAVAILABLE', { retryAfter: 1 });
    held.set(who, own + 1);
    all += 1;
    return () => {
      all -= 1;
      const left = (held.get(who) ?? 1) - 1;
      if (left === 0) held.delete(who);
      else held.set(who, left);
    };
  };
}

const publicDocuments =
  /^\/(?:auth\/(?:jwks|relay\/register)|\.well-known(?:\/.*)?|install\.sh|relay-daemon\.tgz)\/?$/i;

/** Documents that need no credential: all of them count in one bucket for each address (rules, 6.10). Mount it before their routes. */
export function limitPublicDocuments(app: Express, rateLimits: RateLimits): void {
  app.use(async (request: Request, response: Response, next: NextFunction) => {
    if (publicDocuments.test(request.path))
      await rateLimits.request(response, `documents:${networkOfRequest(request)}`);
    next();
  });
}

/** Interface for the sign-in library: whether a request passes, and if not, after how many seconds. */
export interface SignInLimits {
  consume(
    key: string,
    rule: { window: number; max: number },
  ): Promise<{ allowed: true; retryAfter: null } | { allowed: false; retryAfter: number }>;
}

/**
 * Fixed windows for the sign-in, of `window` seconds and `max` requests, counted like all others. The library's own restart with
 * every request: a client that never pauses for a whole window would be refused however slow it is.
 */
export function createSignInLimits(backplane: Pick<Shared, 'count'>): SignInLimits {
  const limiter = createSharedLimiters(backplane);
  /** One for each rule of the library. */
  const limits = new Map<string, Limiter>();
  return {
    consume: async (key, { window, max }) => {
      const rule = `sign-in:${max}:${window}`;
      const limit = limits.get(rule) ?? limiter(rule, max, window * 1000);
      limits.set(rule, limit);
      const { over, windowLeftMs } = await limit.count(key);
      return over
        ? { allowed: false, retryAfter: Math.max(1, Math.ceil(windowLeftMs / 1000)) }
        : { allowed: true, retryAfter: null };
    },
  };
}

/** The headers of the tighter limit stay: the one with fewer requests left. */
function show(response: Answering, limit: number, { left, windowEndsAt }: LimitState): void {
  const shown = response.getHeader('X-RateLimit-Remaining');
  if (shown !== undefined && Number(shown) < left) return;
  response.setHeader('X-RateLimit-Limit', String(limit));
  response.setHeader('X-RateLimit-Remaining', String(left));
  response.setHeader('X-RateLimit-Reset', String(Math.ceil(windowEndsAt / 1000)));
}

function tooMany({ windowLeftMs }: LimitState): RelayError {
  const retryAfter = Math.max(1, Math.ceil(windowLeftMs / 1000));
  return new RelayError('RATE_LIMITED', `Too many requests. Try again in ${retryAfter} s.`, { retryAfter });
}
