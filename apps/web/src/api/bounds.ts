/** How long the pages wait for an answer, and how much they ask for at once. */
export const requestTimeoutMs = 20_000;
/** All that the relay keeps of a person. */
export const exportTimeoutMs = 300_000;
export const pageSize = 50;

/** Images take their time to travel. */
export const sendingTimeout = (images: readonly string[]): { timeoutMs?: number } =>
  images.length > 0 ? { timeoutMs: 120_000 } : {};
