/** English: the messages that wait. */
import { number } from '../formats.ts';

export const words = {
  queue: {
    title: 'Queued messages',
    edit: (text: string) => `Edit “${text}”`,
    remove: (text: string) => `Remove “${text}”`,
    edited: 'Queued message',
    late: 'No longer queued. The change was not saved.',
    move: (text: string) => `Move “${text}”`,
    up: 'Move up',
    down: 'Move down',
    toFront: 'Send first',
    movedTo: (place: number, all: number) => `Moved to place ${number(place)} of ${number(all)}`,
  },
};
