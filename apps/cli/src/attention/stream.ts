/**
 * Everything that happens to a user, without end: connects again after an outage and resumes where it was, renews the credential
 * on the living socket (contract §6). Says so when something may have been missed. Knows frames by their envelope only.
 */
import { pause } from '../clock.ts';
import { Failure, exitCodes, notARelay } from '../failure.ts';
import type { Access, Grant } from '../sign-in/access.ts';
import { type Ending, asksToBackOff, backoffMs, sentenceOf, verdictOf } from './backoff.ts';
import { type AnyFrame, decodeFrame } from './frame.ts';
import { type AttentionSocket, openAttention } from './socket.ts';

export type Happening =
  | { kind: 'frame'; frame: AnyFrame }
  /** Listening. `gap`: something may have been missed since the last frame; reload by REST. */
  | { kind: 'connected'; gap: boolean }
  | { kind: 'lost'; why: string; waitMs: number }
  | { kind: 'gap' };

export interface StreamWish {
  access: Access;
  output: boolean;
  /** Ends the stream in order. */
  signal: AbortSignal;
}

/** A token is renewed on the socket when it is good for no longer than this. */
const renewBeforeMs = 60_000;
/** What a token that was renewed should be good for. */
const renewedForMs = 90_000;
const renewAgainMs = 5000;

/**
 * Ends when the signal is aborted. Throws a Failure when the first connection cannot be made, when the person must sign in
 * again, or when the relay does not want this program back. After an outage it tries for ever.
 */
export async function* attention({ access, output, signal }: StreamWish): AsyncGenerator<Happening, void> {
  let since = '';
  let wasConnected = false;
  let step = -1;
  /** A token the relay turned away; the second in a row is the end. */
  let refused: string | undefined;

  while (!signal.aborted) {
    const grant = await grantFor(access, refused, wasConnected);
    const opened =
      grant === undefined ? trouble : await openAttention({ url: access.url, token: grant.token, since, output });
    let ending: Ending;
    let credential: string | undefined;
    if ('kind' in opened) {
      ending = opened;
      credential = grant?.token;
      if (verdictOf(ending) === 'again' && !wasConnected) throw failureOf(access, ending);
    } else {
      const renewal = keepRenewed(opened, access, grant!);
      const leave = () => void opened.close();
      signal.addEventListener('abort', leave);
      if (signal.aborted) leave();
      try {
        // Without a frame there was no offset yet: what came in between cannot be asked for.
        yield { kind: 'connected', gap: wasConnected && since === '' };
        wasConnected = true;
        for await (const text of opened.texts()) {
          const frame = decodeFrame(text);
          if (!frame) continue;
          if ('offset' in frame && typeof frame.offset === 'string') since = frame.offset;
          refused = undefined;
          if (frame.type === 'resync') yield { kind: 'gap' };
          else if (frame.type !== 'auth_ok') yield { kind: 'frame', frame };
        }
      } finally {
        renewal.stop();
        signal.removeEventListener('abort', leave);
        await opened.close();
      }
      const failure = renewal.failure();
      if (failure) throw failure;
      ending = await opened.ended;
      credential = renewal.token();
      if (!asksToBackOff(ending)) step = -1;
    }
    if (signal.aborted) return;

    const verdict = verdictOf(ending);
    if (verdict === 'forbidden') throw failureOf(access, ending);
    if (verdict === 'credential') {
      if (refused !== undefined || !access.renewable) throw failureOf(access, ending);
      refused = credential;
      continue;
    }
    step += 1;
    const waitMs = backoffMs(ending, step, Math.random());
    yield { kind: 'lost', why: sentenceOf(ending), waitMs };
    await pause(waitMs, signal);
  }
}

/** The relay's sign-in is away while its socket would be: told and tried again like the rest of it. */
const trouble: Ending = { kind: 'failed', message: 'its sign-in does not answer' };

async function grantFor(access: Access, refused: string | undefined, mayWait: boolean): Promise<Grant | undefined> {
  try {
    return await access.token(refused === undefined ? {} : { refused });
  } catch (error) {
    if (mayWait && error instanceof Failure && error.exitCode === exitCodes.temporary) return undefined;
    throw error;
  }
}

/** Sends a fresh token before the old one ends. If there can be none, the socket is closed and `failure` says why. */
function keepRenewed(socket: AttentionSocket, access: Access, first: Grant) {
  let grant = first;
  let failure: Failure | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const schedule = (inMs: number) => {
    // Longer than a timer can be: tokens of another issuer may live for months.
    if (!stopped) timer = setTimeout(() => void renew(), Math.min(Math.max(inMs, 1000), 2 ** 31 - 1));
  };
  const next = () => {
    if (!access.renewable || grant.expiresAt === undefined) return;
    const leftMs = grant.expiresAt - Date.now();
    schedule(leftMs > renewBeforeMs ? leftMs - renewBeforeMs : leftMs / 2);
  };
  const renew = async () => {
    try {
      const fresh = await access.token({ atLeastMs: renewedForMs });
      if (fresh.token !== grant.token) socket.send(JSON.stringify({ type: 'auth', token: fresh.token }));
      grant = fresh;
      next();
    } catch (error) {
      if (error instanceof Failure && error.exitCode === exitCodes.temporary) return schedule(renewAgainMs);
      failure = error instanceof Failure ? error : new Failure('RENEWAL_FAILED', String(error));
      void socket.close();
    }
  };
  next();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
    failure: () => failure,
    token: () => grant.token,
  };
}

function failureOf({ url }: Access, ending: Ending): Failure {
  const why = `${sentenceOf(ending)[0]!.toUpperCase()}${sentenceOf(ending).slice(1)}`;
  if (ending.kind === 'failed')
    return new Failure(
      'UNREACHABLE',
      `Cannot reach ${url} (${ending.message}). Is the relay running, and is the address right?`,
      exitCodes.temporary,
    );
  const code = (ending.kind === 'refused' ? ending.code : undefined) ?? 'CLOSED';
  const verdict = verdictOf(ending);
  if (verdict === 'credential') {
    return new Failure(
      code === 'CLOSED' ? 'TOKEN_REVOKED' : code,
      `${why}. Run "relay login --url ${url}".`,
      exitCodes.notSignedIn,
    );
  }
  if (ending.kind === 'refused' && ending.status === 404) return notARelay(url, 'it has no /ws/attention');
  if (verdict === 'again') return new Failure(code, `${why}. Try again later.`, exitCodes.temporary);
  return new Failure(code, `${why}.`, exitCodes.failed);
}
