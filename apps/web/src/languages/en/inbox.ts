/** English texts: items that wait for the person. */
import { plural } from '../formats.ts';

export const words = {
  inbox: {
    kinds: {
      question: 'Question',
      failure: 'Failed',
      unknown: 'Delivery unknown',
      finished: 'Done',
      device: 'Machine',
      missed: 'Missed',
    },
    missedOffline: 'Its machine was offline.',
    missedDown: 'Relay was down at its time.',
    missedBack: 'It may have run: the database was restored.',
    unknown: 'The message may not have arrived. Open the session to send it again or cancel it.',
    away: 'Offline for more than five minutes, while messages wait for it.',
    conflict:
      'Two machines use the same registration, so they keep disconnecting each other. Register one of them again.',
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
