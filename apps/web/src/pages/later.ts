/** `/later`: a chunk of its own, with its texts. */
import { UnloadedPage, loadedLater } from '../ui/loaded-later.tsx';

export const Later = loadedLater(async () => (await import('../later/load.ts')).page(), UnloadedPage);
