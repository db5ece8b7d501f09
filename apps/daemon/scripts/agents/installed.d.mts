export interface InstalledAgent {
  /** The program of the agent, of the pinned version. */
  program: string;
  /** A new home of its own, to be removed by the caller; `project` is an empty folder in it. */
  home: string;
  project: string;
  /** Its whole environment, which leads to the simulated model. */
  env: Record<string, string>;
}

/** `hasPlan`: with the token of a subscription. @throws Error when npm cannot install it */
export function installedAgent(name: string, modelUrl: string, credentials?: { hasPlan?: boolean }): InstalledAgent;
