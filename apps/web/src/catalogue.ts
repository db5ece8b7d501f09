/**
 * Every text on screen, by meaning, in the language of the pages (ADR 44). Parts are loaded with the pages that use them, so
 * texts are read while a component renders, never while a module loads.
 */
import type { words as laterWords } from './languages/en/later.ts';
import type { words as filesWords } from './languages/en/files.ts';
import type { words as usageWords } from './languages/en/usage.ts';
import { type Language, language, pseudoLanguage } from './languages/language.ts';

export {
  ago,
  capital,
  dayKey,
  dayOf,
  fullTime,
  lasted,
  listFormats,
  momentOf,
  number,
  shortAgo,
  size,
  spanOf,
  timeOf,
} from './languages/formats.ts';
export { direction, language } from './languages/language.ts';

const en = {
  /** Loaded first; the remaining parts come with the pages that need them. */
  frame: () => import('./languages/en/frame.ts'),
  errors: () => import('./languages/en/errors.ts'),
  inbox: () => import('./languages/en/inbox.ts'),
  session: () => import('./languages/en/session.ts'),
  form: () => import('./languages/en/form.ts'),
  changes: () => import('./languages/en/changes.ts'),
  keys: () => import('./languages/en/keys.ts'),
  machines: () => import('./languages/en/machines.ts'),
  settings: () => import('./languages/en/settings.ts'),
  door: () => import('./languages/en/door.ts'),
  notify: () => import('./languages/en/notify.ts'),
  here: () => import('./languages/en/here.ts'),
  controls: () => import('./languages/en/controls.ts'),
  desk: () => import('./languages/en/desk.ts'),
  queue: () => import('./languages/en/queue.ts'),
  steer: () => import('./languages/en/steer.ts'),
  asks: () => import('./languages/en/asks.ts'),
};
type Parts = { [Name in keyof typeof en]: Awaited<ReturnType<(typeof en)[Name]>>['words'] };
export type CataloguePart = keyof Parts;
type Loaders = { [Name in CataloguePart]: () => Promise<{ words: Parts[Name] }> };
const de: Loaders = {
  frame: () => import('./languages/de/frame.ts'),
  errors: () => import('./languages/de/errors.ts'),
  inbox: () => import('./languages/de/inbox.ts'),
  session: () => import('./languages/de/session.ts'),
  form: () => import('./languages/de/form.ts'),
  changes: () => import('./languages/de/changes.ts'),
  keys: () => import('./languages/de/keys.ts'),
  machines: () => import('./languages/de/machines.ts'),
  settings: () => import('./languages/de/settings.ts'),
  door: () => import('./languages/de/door.ts'),
  notify: () => import('./languages/de/notify.ts'),
  here: () => import('./languages/de/here.ts'),
  controls: () => import('./languages/de/controls.ts'),
  desk: () => import('./languages/de/desk.ts'),
  queue: () => import('./languages/de/queue.ts'),
  steer: () => import('./languages/de/steer.ts'),
  asks: () => import('./languages/de/asks.ts'),
};
const files: Record<Language, Loaders> = { en, de };

type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer Every) => void
  ? Every
  : never;
/** Texts of the chunks of use, of files and of messages with a time, which load them themselves. */
type LaterParts = typeof usageWords | typeof laterWords | typeof filesWords;
export const words = {} as All<Parts[CataloguePart] | LaterParts>;

/** Resolves when the parts are loaded. */
export async function loadWords(...parts: readonly CataloguePart[]): Promise<void> {
  const loaded = await Promise.all(parts.map(async (part) => (await files[language][part]()).words));
  const longer = pseudoLanguage && (await import('./languages/pseudo.ts')).longer;
  for (const some of loaded) Object.assign(words, longer ? longer<object>(some) : some);
}
