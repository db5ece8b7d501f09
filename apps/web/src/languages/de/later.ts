/** Deutsch: Worte der Nachrichten mit einer Zeit. */
import type { words as english } from '../en/later.ts';

export const words: typeof english = {
  later: {
    title: 'Später',
    lead: 'Was von selbst gesendet wird, wenn seine Zeit kommt.',
    loading: 'Wird geladen …',
    none: 'Nichts wartet auf seine Zeit. Halte Senden gedrückt, um später zu senden.',
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
    edited: 'Nachricht, die später gesendet wird',
    newTime: 'Andere Zeit',
  },
};
