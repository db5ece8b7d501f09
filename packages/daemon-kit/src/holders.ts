/** Programs of this machine that have a session open beside the daemon (rules, chapter 24). The seam to the code that knows agents. */
import type { Held } from '@relay/protocol';

export interface Holders {
  /** The sessions that other programs have open. Cheap: called every second. */
  look(): ReadonlyMap<string, Held>;
  /** The program that has this session open at this moment. */
  of(sessionId: string): Held | undefined;
  /** Closes the program, if it surely holds this session alone, in a terminal. `stopTurn`: also while it works. Never rejects. */
  end(sessionId: string, stopTurn: boolean): Promise<Ended>;
  /** The command that continues the session in the agent itself; undefined where it was never tried. */
  command(sessionId: string, cwd: string): string | undefined;
}

export interface Ended {
  result: 'released' | 'not_held' | 'busy' | 'foreign' | 'shared' | 'failed';
  program?: string;
  terminal?: string;
  detail?: string;
}
