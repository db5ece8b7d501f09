/** English texts: a session that a terminal has open as well. */
import { plural } from '../formats.ts';

/** `12 min`, `3 h`. */
const span = (ms: number): string => {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  return minutes < 100 ? plural(minutes, { other: '# min' }) : plural(Math.round(minutes / 60), { other: '# h' });
};

export const words = {
  desk: {
    open: 'Open at the desk',
    openWorking: 'Open at the desk, working',
    working: 'Working at the desk',
    waits: 'Waits for you at the desk',
    foreign: 'Open in another program',
    shared: (agent: string) => `Open in ${agent}’s background server`,
    likely: 'May be open at the desk',
    idleFor: (machine: string, ms: number) => `Terminal on ${machine}, idle for ${span(ms)}`,
    workingFor: (machine: string, ms: number) => `Terminal on ${machine}, for ${span(ms)}`,
    waitsFor: (machine: string, what: string) => `Terminal on ${machine}: ${what}`,
    terminalOn: (machine: string) => `Terminal on ${machine}`,
    programOn: (program: string, machine: string) => `${program} on ${machine}`,
    on: (machine: string) => `on ${machine}`,
    typed: 'at the desk',
    continueHere: 'Continue here',
    continuing: 'Closing…',
    details: 'Details',
    close: 'Close',
    results: {
      released: 'Closed at the desk. The session is yours.',
      not_held: 'It was closed already.',
    },
    busy: (agent: string) => `${agent} is working there. Stop it?`,
    stop: 'Stop it',
    failed: (terminal: string) => `It didn’t close. Close it in ${terminal}.`,
    itsTerminal: 'its terminal',
    cannot: (program: string) => `Relay can’t close it: it runs in ${program}.`,
    offline: (machine: string) => `${machine} is offline.`,
    silent: (machine: string) => `${machine} didn’t answer. Nothing was closed, as far as Relay knows.`,
    ask: {
      title: 'It’s still open at the desk',
      idle: (agent: string, machine: string, ms: number) =>
        `${agent} has this session in a terminal on ${machine}, idle for ${span(ms)}. Two at once would split its history.`,
      other: (agent: string, machine: string) =>
        `${agent} has this session open on ${machine}. Two at once would split its history.`,
      take: 'Close it there and send',
      takeMore: 'That terminal shows how to go on with the session.',
      stop: 'Stop it there and send',
      stopMore: (agent: string) => `What ${agent} is doing now is interrupted.`,
      wait: 'Send when it’s closed there',
      waitMore: 'Goes first then. Waits for a day at most.',
      draft: 'Keep as a draft',
    },
    facts: {
      program: 'Program',
      terminal: 'Terminal',
      folder: 'Folder',
      since: 'Since',
      more: 'Relay ends only programs of your own that have this one session open.',
    },
    resume: {
      title: 'Continue at the desk',
      free: 'Nothing runs here, so the session is free.',
      busy: (agent: string) => `${agent || 'The agent'} is working. Stop it or wait, then the command works.`,
      question: 'A question is open here. Answer it first.',
      held: 'It is open at the desk already.',
      waiting: 'A message waits here until it is closed there.',
      on: (machine: string) => `On ${machine}`,
      onMore: (agent: string) => `Goes on in ${agent || 'the agent'} itself. Here you see it as “Open at the desk”.`,
      update: (machine: string) => `Update the daemon on ${machine} to see the command.`,
      none: (agent: string) => `Relay doesn’t know the command of ${agent || 'this agent'}.`,
      command: 'Command',
      attach: 'In any terminal that is signed in to Relay',
      attachMore: 'One more window on this session, live, with its questions. Nothing moves.',
    },
  },
};
