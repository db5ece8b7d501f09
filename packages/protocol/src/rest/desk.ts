/** A session that a program on the machine has open as well: who has it, and how a person goes on there. Names are the same on every plane. */
import { type Static, flag, limits, maybe, oneOf, record, text } from '../schema.ts';
import { word } from '../transcript/question.ts';

const when = (description: string) => text(`${description} (ISO 8601)`, { maxLength: limits.timeCharacters });

export const Held = record('Held', 'Another program on the machine that has the session open.', {
  state: word(['idle', 'busy', 'waiting', 'unknown'], 'State of the program'),
  program: text('Display name', { maxLength: 200 }),
  terminal: maybe(text('Its terminal', { maxLength: 64 })),
  why: maybe(word(['foreign', 'shared'], 'Why the daemon cannot close it')),
  waits: maybe(text('Reason why it waits', { maxLength: 200 })),
  since: when('Start of the program'),
  at: when('Start of its current state'),
  sure: flag('The agent confirms it; otherwise the daemon infers it'),
  ends: flag('The daemon can close it'),
});

export const deskChoices = ['take', 'wait'] as const;
export type DeskChoice = (typeof deskChoices)[number];

/** The choice that a message to a held session can carry. */
export const deskChoice = maybe(
  oneOf(
    deskChoices,
    'While another program has the session open: with `take` the daemon closes that program first, with `wait` it sends the message after the program closes. Absent: the daemon asks',
  ),
);

/** Why a session cannot be continued on its machine now. */
const deskReasons = ['busy', 'question', 'held', 'waiting'] as const;

const deskWhy = maybe(
  word(
    deskReasons,
    'Why the session is blocked: the agent works, a question is open, another program has it, or a message waits',
  ),
);
const command = maybe(
  text('Command for a POSIX shell on the machine; absent for an agent whose command is not verified', {
    maxLength: 4096,
  }),
);
const cwd = maybe(text('Working directory', { maxLength: limits.pathCharacters }));

export const deskAnswer = { why: deskWhy, held: maybe(Held), command, cwd };

export type Held = Static<typeof Held>;
