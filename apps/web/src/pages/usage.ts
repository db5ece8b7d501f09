/** `/usage`: a chunk of its own, with its words. */
import { loadedLater, UnloadedPage } from '../ui/loaded-later.tsx';
import { usageWords } from '../usage/words.ts';

export const Usage = loadedLater(
  async () => (await Promise.all([import('../usage/page.tsx'), usageWords()]))[0].Usage,
  UnloadedPage,
);
