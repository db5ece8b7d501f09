/** German: the messages that wait. */
import type { words as english } from '../en/queue.ts';
import { number } from '../formats.ts';

export const words: typeof english = {
  queue: {
    title: 'Nachrichten in der Warteschlange',
    edit: (text) => `„${text}“ bearbeiten`,
    remove: (text) => `„${text}“ entfernen`,
    edited: 'Nachricht in der Warteschlange',
    late: 'Die Nachricht wartet nicht mehr und blieb unverändert.',
    move: (text) => `„${text}“ verschieben`,
    up: 'Nach oben',
    down: 'Nach unten',
    toFront: 'Zuerst senden',
    movedTo: (place, all) => `Auf Platz ${number(place)} von ${number(all)} verschoben`,
  },
};
