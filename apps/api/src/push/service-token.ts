/** A token for a service of the operator, renewed in time by one caller for all. */

export interface ServiceToken {
  /** Rejects when it cannot be had; the next caller tries again. */
  read(): Promise<string>;
  /** The service refused this one: the next caller makes another, unless that happened already. */
  discard(token: string): void;
}

interface MadeToken {
  token: string;
  /** How long it is used, in ms. */
  useMs: number;
}

export function createServiceToken(make: () => MadeToken | Promise<MadeToken>, now: () => number): ServiceToken {
  let kept: { token: string; until: number } | undefined;
  let making: Promise<string> | undefined;
  const renew = async () => {
    const { token, useMs } = await make();
    kept = { token, until: now() + useMs };
    return token;
  };
  return {
    read: () => {
      if (kept !== undefined && now() < kept.until) return Promise.resolve(kept.token);
      making ??= renew().finally(() => (making = undefined));
      return making;
    },
    discard: (token) => {
      if (kept?.token === token) kept = undefined;
    },
  };
}
