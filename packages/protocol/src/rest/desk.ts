/** A session that a program on the machine has open as well: who has it, and how a person goes on there. Names are the same on every plane. */
import { type Static, flag, limits, maybe, oneOf, record, sessionId, text } from '../schema.ts';
import { word } from '../transcript/question.ts';

const when = (description: string) => text(`${description} (ISO 8601)`, { maxLength: limits.timeCharacters });

export const Held = record('Held', 'A program on the machine that has the session open beside its daemon.', {
  state: word(['idle', 'busy', 'waiting', 'unknown'], 'What it does'),
  program: text('Its name, for people', { maxLength: 200 }),
  terminal: maybe(text('Its terminal', { maxLength: 64 })),
  why: maybe(word(['foreign', 'shared'], 'Why the daemon cannot close it')),
  waits: maybe(text('What it waits for', { maxLength: 200 })),
  since: when('Start of the program'),
  at: when('Start of its state'),
  sure: flag('The agent proves it; otherwise it is likely'),
  ends: flag('The daemon can close it'),
});

export const deskChoices = ['take', 'wait'] as const;
export type DeskChoice = (typeof deskChoices)[number];

/** The choice that a message to a held session can carry. */
export const deskChoice = maybe(
  oneOf(
    deskChoices,
    'While another program has the session open: `take` closes it first, `wait` sends when it was closed there. Absent: the daemon asks',
  ),
);

/** Why a session cannot be continued on its machine now. */
export const deskReasons = ['busy', 'question', 'held', 'waiting'] as const;

const deskWhy = maybe(
  word(deskReasons, 'Why it is not free: the agent works, a question is open, a program has it, or a message waits'),
);
const command = maybe(text('For a POSIX shell on the machine; absent where it was never tried', { maxLength: 4096 }));
const cwd = maybe(text('Working directory', { maxLength: limits.pathCharacters }));

export const deskAnswer = { why: deskWhy, held: maybe(Held), command, cwd };

export const DeskState = record('DeskState', 'How to go on with a session in a terminal.', {
  sessionId: sessionId('Canonical session id'),
  free: flag('Nothing of the daemon is in the way'),
  ...deskAnswer,
  attach: text('The command of `relay` that shows the session in any terminal'),
});

export const ReleaseSession = record('ReleaseSession', 'How to release; may be left out.', {
  stopTurn: maybe(flag('Also while the program works or waits for a person')),
});

export type Held = Static<typeof Held>;
export type DeskState = Static<typeof DeskState>;
export type ReleaseSession = Static<typeof ReleaseSession>;
