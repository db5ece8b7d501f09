/** English texts: questions of a daemon. */
const doing: Readonly<Record<string, string>> = { busy: ', working', waiting: ', waiting for you' };

export const words = {
  asks: {
    session: (spent: string) => `This session has cost about ${spent}. Continue?`,
    day: (spent: string) => `The sessions of this agent on this machine have cost about ${spent} today. Continue?`,
    capped: (spent: string, cap: string) => `Stopped at about ${spent}, half as much again as your ${cap}.`,
    held: (program: string, state: string, minutes: number) =>
      `This session is open at the desk (${program}${state === 'idle' ? `, idle for ${minutes} min` : (doing[state] ?? '')}). Close it there and send?`,
    likely: (program: string) => `This session may be open at the desk (${program}). Send when it’s closed there?`,
    shared: (program: string) => `This session is open in ${program}’s background server. Send when it’s closed there?`,
    foreign: (program: string) => `This session is open in another program (${program}). Send when it’s closed there?`,
    options: (next: string, stops: boolean) => ({
      continue: 'Continue',
      raise: `Continue up to ${next}`,
      stop: 'Stop here',
      take: stops ? 'Stop it there and send' : 'Close it there and send',
      wait: 'Send when it’s closed there',
      anyway: 'Send anyway',
      drop: 'Don’t send',
    }),
  },
};
