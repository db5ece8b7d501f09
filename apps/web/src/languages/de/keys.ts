/** German texts: the palette and of the keyboard help. */
import type { words as english } from '../en/keys.ts';
import { plural } from '../formats.ts';

export const words: typeof english = {
  keys: {
    goTo: 'Gehe zu',
    field: 'Sitzungen, Rechner und Seiten durchsuchen',
    hint: 'Sitzung, Rechner, Seite…',
    results: 'Ergebnisse',
    close: 'Schließen',
    groups: {
      messages: 'In Nachrichten',
      pages: 'Seiten und Aktionen',
    },
    newSessionWith: (text) => `Neue Sitzung „${text}“`,
    connect: 'Rechner verbinden',
    apps: 'Apps',
    failed: 'Relay lässt sich gerade nicht durchsuchen. Das sind die geladenen Sitzungen.',
    found: (count) => plural(count, { one: '# Ergebnis', other: '# Ergebnisse' }),
    help: 'Tastenkürzel',
    helpMore: 'Einzelne Tasten wirken, solange kein Feld den Fokus hat.',
    useKeys: 'Kürzel mit einer Taste',
    everywhere: 'Überall',
    inList: 'In der Liste',
    inSession: 'In einer Sitzung',
    does: {
      palette: 'Zu Sitzung, Rechner oder Seite gehen',
      help: 'Diese Liste',
      move: 'Nächste, vorige Sitzung',
      open: 'Sitzung öffnen',
      archive: 'Sitzung archivieren',
      select: 'Mehrere Sitzungen auswählen',
      send: 'Senden',
      line: 'Neue Zeile',
      commands: 'Befehle des Agenten',
      answer: 'Erlauben, ablehnen, während die Frage den Fokus hat',
      then: 'dann',
      or: 'oder',
    },
  },
};
