/** The base of every store of rate-limiter-flexible. The package has it and types it, but does not name it in its index. */
declare module 'rate-limiter-flexible/lib/RateLimiterStoreAbstract.js' {
  import { type IRateLimiterStoreOptions, type RateLimiterRes, RateLimiterStoreAbstract } from 'rate-limiter-flexible';

  /** `Result` is what the store answers to an addition. */
  export default abstract class Store<Result> extends RateLimiterStoreAbstract {
    constructor(options: Omit<IRateLimiterStoreOptions, 'storeClient'>);
    protected abstract _upsert(key: string, points: number, windowMs: number): Promise<Result>;
    protected abstract _getRateLimiterRes(key: string, changedPoints: number, result: Result): RateLimiterRes;
  }
}
