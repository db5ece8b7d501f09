/** `/usage`: a chunk of its own, with its texts. */
import { UnloadedPage, loadedLater } from '../ui/loaded-later.tsx';

export const Usage = loadedLater(async () => (await import('../usage/load.ts')).page(), UnloadedPage);
