/** The chunk of what waits. */
export { ItemCard, Snooze } from './items.tsx';
export { Waiting } from './waiting.tsx';
