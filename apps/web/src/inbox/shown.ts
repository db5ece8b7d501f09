/** The chunk of waiting items. */
export { ItemCard, Snooze } from './items.tsx';
export { Waiting } from './waiting.tsx';
