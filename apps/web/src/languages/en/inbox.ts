/** English: words of what waits for the person. */
import { plural } from '../formats.ts';

export const words = {
  inbox: {
    kinds: {
      question: 'Question',
      failure: 'Failed',
      unknown: 'Not certain',
      finished: 'Done',
      device: 'Machine',
    },
    failed: 'The agent stopped with an error.',
    expired: 'The message expired before the machine was back. Send it again.',
    lost: 'The machine no longer knows this task. Send the message again.',
    unknown: 'It is not certain that the message arrived. Open the session to send it again or to cancel.',
    away: 'Offline for more than five minutes, while messages wait for it.',
    conflict: 'Two machines use one registration and take turns. Register one of them again.',
    finished: 'Done',
    open: 'Open',
    later: 'Later',
    snooze: (name: string) => `Show later: ${name}`,
    until: { hour: 'In an hour', tomorrow: 'Tomorrow morning', week: 'In a week' },
    done: 'Dismiss',
    dismiss: (name: string) => `Dismiss: ${name}`,
    more: (count: number) => plural(count, { one: 'and # older one', other: 'and # older ones' }),
    snoozed: (count: number) => plural(count, { one: '# for later', other: '# for later' }),
    showNow: 'Show now',
  },
};
