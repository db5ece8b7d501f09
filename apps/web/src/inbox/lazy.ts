/** Loaded when an item waits: a chunk of its own, with its texts. */
import { Nothing } from '../ui/loaded-later.tsx';
import { pageChunk } from '../ui/page-chunk.tsx';

const chunk = pageChunk('inbox', () => import('./shown.ts'));
export const Waiting = chunk.page(({ Waiting: shown }) => shown);
export const ItemCard = chunk.page(({ ItemCard: shown }) => shown, Nothing);
export const Snooze = chunk.page(({ Snooze: shown }) => shown, Nothing);
