/** Deutsch: Worte der Nachrichten mit einer Zeit. */
import type { words as english } from '../en/later.ts';

export const words: typeof english = {
  later: {
    title: 'Später',
    lead: 'Nachrichten, die Relay zu einer festen Zeit sendet.',
    loading: 'Wird geladen …',
    none: 'Keine Nachricht wartet auf ihre Zeit. Halte Senden gedrückt, um eine Zeit zu wählen.',
    send: 'Später senden',
    close: 'Schließen',
    hour: 'In 1 Stunde',
    tonight: (time) => `Heute ${time}`,
    tomorrow: (time) => `Morgen ${time}`,
    other: 'Datum und Uhrzeit',
    zone: (zone) => `Deine Zeit: ${zone}.`,
    chips: 'Wird später gesendet',
    move: (text) => `Zeit von „${text}“ ändern`,
    remove: (text) => `„${text}“ nicht senden`,
    edit: (text) => `„${text}“ bearbeiten`,
    edited: 'Später zu sendende Nachricht',
    newTime: 'Zeit ändern',
  },
};
