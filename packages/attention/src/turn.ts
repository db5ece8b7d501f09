/**
 * One turn, one set of messages (rules, 12.3). A daemon without `message_uuid` reports a turn twice: as texts while the
 * agent works (the transcript), and as the final result, which can be the last of these texts or all of them joined by
 * blank lines. Either can come first. Pure; stores texts as hashes, so that other instances hold no conversation text.
 */
import { hash } from 'node:crypto';

/** A text by its paragraphs, which ignores how texts were joined, and leading and trailing white space. */
interface TextDigest {
  at: number;
  /** Hash of all paragraphs. */
  whole: string;
}

/** A text of the transcript, with how many paragraphs it has. */
export type TurnText = TextDigest & { length: number };

export interface PublishedTurn {
  /** Texts of the transcript that no result has accounted for, in their order. */
  said: TurnText[];
  /** Results of the last while; `parts` are hashes of their paragraphs, without the texts of the transcript that were found in them. */
  owed: (TextDigest & { parts: string[] })[];
}

export const maxTexts = 500;
const maxResults = 5;
/** Paragraphs of a result that are remembered: its last ones. */
const maxParts = 500;
const blankLines = /\n\s*\n/g;

export const newTurn = (): PublishedTurn => ({ said: [], owed: [] });

const digest = (text: string) => hash('sha256', text, 'base64url').slice(0, 12);
const digestOf = (parts: readonly string[]) => digest(parts.join());

/** Paragraphs, each with the place where it begins. */
function paragraphs(text: string): { part: string; from: number }[] {
  const found: { part: string; from: number }[] = [];
  let from = 0;
  const add = (to: number) => {
    const part = text.slice(from, to).trimEnd();
    if (part.trim() !== '') found.push({ part: digest(part), from });
  };
  for (const gap of text.matchAll(blankLines)) {
    add(gap.index);
    from = gap.index + gap[0].length;
  }
  add(text.length);
  return found;
}

const partsOf = (text: string) => paragraphs(text).map(({ part }) => part);

/** Forgets results that are older than the window, so that the same text later is another message. */
const fresh = (turn: PublishedTurn, now: number, windowMs: number): PublishedTurn =>
  turn.owed.length === 0 ? turn : { said: turn.said, owed: turn.owed.filter(({ at }) => now - at < windowMs) };

/**
 * Whether the agent's text was published already. Undefined: it is new. Otherwise the turn after it, because a recent
 * result contains the text: do not show it.
 */
export function alreadyInResult(
  turn: PublishedTurn,
  text: string,
  now: number,
  windowMs: number,
): PublishedTurn | undefined {
  const { said, owed } = fresh(turn, now, windowMs);
  if (owed.length === 0) return undefined;
  const parts = partsOf(text);
  const whole = digestOf(parts);
  for (const [n, result] of owed.entries()) {
    if (result.whole === whole) return { said, owed: owed.toSpliced(n, 1) };
    // Search from the last paragraph: results are built that way, and an earlier paragraph can have the same text.
    const at = result.parts.findLastIndex(
      (_, start) => parts.length > 0 && parts.every((part, k) => part === result.parts[start + k]),
    );
    if (at < 0) continue;
    const rest = result.parts.toSpliced(at, parts.length);
    return { said, owed: rest.length === 0 ? owed.toSpliced(n, 1) : owed.with(n, { ...result, parts: rest }) };
  }
  return undefined;
}

/** The turn after a text of the transcript that was shown. */
export function withText(turn: PublishedTurn, text: string, now: number, windowMs: number): PublishedTurn {
  const { said, owed } = fresh(turn, now, windowMs);
  const parts = partsOf(text);
  // Copied once: a long turn has many.
  const texts = said.slice(1 - maxTexts);
  texts.push({ at: now, whole: digestOf(parts), length: parts.length });
  return { said: texts, owed };
}

/** Tests texts in their order: true for a text that the turn does not hold since `sinceMs`. Each text that it holds accounts for one. */
export function unpublishedIn(turn: PublishedTurn, sinceMs = 0): (text: string) => boolean {
  let left = turn.said.filter(({ at }) => at >= sinceMs).map(({ whole }) => whole);
  return (text) => {
    const at = left.indexOf(digestOf(partsOf(text)));
    left = at < 0 ? left : left.toSpliced(at, 1);
    return at < 0;
  };
}

/**
 * A turn completed with this result. `unsaid`: the part to show — all of it, the part after the published texts, or
 * nothing (''). `sinceMs`: older texts belong to another turn. An empty result does not change the published texts.
 */
export function withResult(
  turn: PublishedTurn,
  result: string,
  now: number,
  windowMs: number,
  sinceMs = 0,
): { unpublished: string; turn: PublishedTurn } {
  const { owed } = fresh(turn, now, windowMs);
  const found = paragraphs(result);
  const parts = found.map(({ part }) => part);
  if (parts.length === 0) return { unpublished: '', turn: { ...turn, owed } };
  let at = 0;
  for (const { at: publishedAt, whole, length } of turn.said)
    if (publishedAt >= sinceMs && whole === digestOf(parts.slice(at, at + length))) at += length;
  const rest = parts.slice(at);
  if (rest.length === 0) return { unpublished: '', turn: { said: [], owed } };
  return {
    unpublished: at === 0 ? result : result.slice(found[at]!.from),
    turn: {
      said: [],
      owed: [...owed, { at: now, whole: digestOf(parts), parts: rest.slice(-maxParts) }].slice(-maxResults),
    },
  };
}
