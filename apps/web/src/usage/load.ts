/** Loads the ring with its words. Small, so that the conversation names one file alone. */
import { usageWords } from './words.ts';

export const ring = async () => (await Promise.all([import('./ring.tsx'), usageWords()]))[0].UsageRing;
