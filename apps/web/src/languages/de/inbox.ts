/** German texts: items that wait for the person. */
import type { words as english } from '../en/inbox.ts';
import { plural } from '../formats.ts';

export const words: typeof english = {
  inbox: {
    kinds: {
      question: 'Frage',
      failure: 'Fehlgeschlagen',
      unknown: 'Zustellung unklar',
      finished: 'Fertig',
      device: 'Rechner',
      missed: 'Verpasst',
    },
    missedOffline: 'Der Rechner war offline.',
    missedDown: 'Relay lief zu dieser Zeit nicht.',
    missedBack: 'Lief vielleicht: Die Datenbank wurde zurückgesetzt.',
    unknown:
      'Es ist nicht sicher, dass die Nachricht angekommen ist. Öffne die Sitzung, um sie noch einmal zu senden oder abzubrechen.',
    away: 'Seit mehr als fünf Minuten offline, während Nachrichten auf ihn warten.',
    conflict: 'Zwei Rechner benutzen dieselbe Registrierung und verdrängen einander. Registriere einen davon neu.',
    finished: 'Fertig',
    open: 'Öffnen',
    later: 'Später',
    snooze: (name) => `Später zeigen: ${name}`,
    until: { hour: 'In einer Stunde', tomorrow: 'Morgen früh', week: 'In einer Woche' },
    done: 'Erledigt',
    dismiss: (name) => `Erledigt: ${name}`,
    more: (count) => plural(count, { one: 'und # älterer Eintrag', other: 'und # ältere Einträge' }),
    snoozed: (count) => plural(count, { one: '# für später', other: '# für später' }),
    showNow: 'Jetzt zeigen',
  },
};
