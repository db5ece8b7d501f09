/** Loads the usage parts, each with its texts, which no other chunk imports. */
import { language, words } from '../catalogue.ts';
import { pseudoLanguage } from '../languages/language.ts';

const files = {
  en: () => import('../languages/en/usage.ts'),
  de: () => import('../languages/de/usage.ts'),
};

async function withWords<Part>(load: Promise<Part>): Promise<Part> {
  const [part, { words: own }] = await Promise.all([load, files[language]()]);
  Object.assign(words, pseudoLanguage ? (await import('../languages/pseudo.ts')).longer<object>(own) : own);
  return part;
}

export const ring = async () => (await withWords(import('./ring.tsx'))).UsageRing;
export const page = async () => (await withWords(import('./page.tsx'))).Usage;
