/** Lines about single daemons: enough to see which they are, too few to fill a disk. The counters have all. */
export const lineRate = { ratePerSecond: 1, burst: 20 };
