/** Loads the parts of messages with a time, each with its texts, which no other chunk names. */
import { language, loadWords, words } from '../catalogue.ts';
import { pseudoLanguage } from '../languages/language.ts';

const files = {
  en: () => import('../languages/en/later.ts'),
  de: () => import('../languages/de/later.ts'),
};

async function withWords<Part>(load: Promise<Part>): Promise<Part> {
  const [part, { words: own }] = await Promise.all([load, files[language]()]);
  Object.assign(words, pseudoLanguage ? (await import('../languages/pseudo.ts')).longer<object>(own) : own);
  return part;
}

export const dialog = async () => (await withWords(import('./dialog.tsx'))).LaterDialog;
export const byItself = async () => (await withWords(import('./by-itself.tsx'))).ByItself;
export const chips = async () => (await withWords(import('./chips.tsx'))).LaterChips;
export const link = async () => (await withWords(import('./link.tsx'))).LaterLink;
export const limitCard = async () => (await withWords(import('./limit-card.tsx'))).LimitCard;
export const page = async () => (await Promise.all([withWords(import('./page.tsx')), loadWords('controls')]))[0].Later;
