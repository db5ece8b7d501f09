/**
 * Every text on screen, by meaning, in the language of the pages (ADR 44). A part of it is loaded with the pages that speak it, so
 * texts are read while a component renders, never while a module loads.
 */
import type { words as frame } from './languages/en/frame.ts';
import type { words as keys } from './languages/en/keys.ts';
import type { words as session } from './languages/en/session.ts';
import { type Language, language } from './languages/language.ts';

export { ago, capital, dayKey, dayOf, fullTime, lasted, number, shortAgo, size, timeOf } from './languages/formats.ts';
export { language } from './languages/language.ts';

interface Parts {
  /** Of the first load; the other parts come with the pages that need them. */
  frame: typeof frame;
  session: typeof session;
  keys: typeof keys;
}
type Loaders = { [Part in keyof Parts]: () => Promise<{ words: Parts[Part] }> };
const files: Record<Language, Loaders> = {
  en: {
    frame: () => import('./languages/en/frame.ts'),
    session: () => import('./languages/en/session.ts'),
    keys: () => import('./languages/en/keys.ts'),
  },
  de: {
    frame: () => import('./languages/de/frame.ts'),
    session: () => import('./languages/de/session.ts'),
    keys: () => import('./languages/de/keys.ts'),
  },
};

type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer Every) => void
  ? Every
  : never;
export const words = {} as All<Parts[keyof Parts]>;

/** Resolves when `words` has the part. */
export async function loadWords(part: keyof Parts): Promise<void> {
  Object.assign(words, (await files[language][part]()).words);
}

const products: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  claude_code: 'Claude Code',
  'claude-code': 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
  cursor: 'Cursor',
  demo: 'demo',
};
/** The name of the product; `demo` for the demonstration and empty for any other, for which each language has its own words. */
export const agentName = (type: string): string => products[type.toLowerCase()] ?? '';
