/** Loads the parts of files, each with its texts, which no other chunk imports. */
import { language, words } from '../catalogue.ts';
import { pseudoLanguage } from '../languages/language.ts';

const texts = {
  en: () => import('../languages/en/files.ts'),
  de: () => import('../languages/de/files.ts'),
};

async function withWords<Part>(load: Promise<Part>): Promise<Part> {
  const [part, { words: own }] = await Promise.all([load, texts[language]()]);
  Object.assign(words, pseudoLanguage ? (await import('../languages/pseudo.ts')).longer<object>(own) : own);
  return part;
}

export const tray = async () => (await withWords(import('./tray.tsx'))).FileTray;
export const card = async () => (await withWords(import('./card.tsx'))).FileCard;
export const sent = async () => (await withWords(import('./card.tsx'))).SentFiles;
