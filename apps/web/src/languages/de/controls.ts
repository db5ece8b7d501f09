/** German: permissions, model and effort of an agent. */
import type { words as en } from '../en/controls.ts';

const named = (unnamed: string) => (agent: string) => (agent === '' || agent === 'demo' ? unnamed : agent);
const the = named('Der Agent');
const withAgent = named('dem Agenten');

export const words: typeof en = {
  controls: {
    permissions: (mode: string, danger: boolean) => `Rechte: ${mode}${danger ? ', gefährlich' : ''}`,
    model: (model: string, effort: string) => `Modell: ${effort === '' ? model : `${model}, ${effort}`}`,
    title: (agent: string) => `${the(agent)}, diese Sitzung`,
    titleNew: (agent: string) => `${the(agent)}, neue Sitzung`,
    close: 'Schließen',
    item: 'Rechte und Modell',
    opening: (agent: string) =>
      `Sitzung wird geöffnet bei ${agent === '' || agent === 'demo' ? 'dem Agenten' : agent} …`,
    none: (agent: string) => `${the(agent)} bietet nichts zur Auswahl.`,
    heading: { mode: 'Rechte', model: 'Modell', thought_level: 'Aufwand' },
    applies: { now: 'gilt sofort', next: 'ab der nächsten Nachricht' },
    more: 'Mehr Auswahl',
    search: 'Modelle suchen',
    doesNotAsk: 'Fragt nicht',
    keep: 'Für neue Sitzungen',
    keepMore: (agent: string, machine: string) => `${the(agent)} auf ${machine}`,
    refused: (machine: string, reason: string) => `${machine} hat es nicht geändert. ${reason}`,
    asOf: (when: string) => `Stand ${when}. Deine Wahl geht mit der nächsten Nachricht mit.`,
    asOfStart: (when: string) => `Stand ${when}. Deine Wahl geht mit der ersten Nachricht mit.`,
    never: (agent: string) => `${the(agent)} zeigt die Auswahl nach der ersten Nachricht.`,
    how: 'Arbeitsweise',
    asLast: (machine: string) => `wie zuletzt auf ${machine}`,
    on: '{mode} {agent} ändert Dateien und startet Befehle auf {machine}, ohne zu fragen.',
    onName: (mode: string) => `${mode}.`,
    onAgent: the,
    dontAsk: (agent: string) => `Neue Sitzungen mit ${withAgent(agent)} fragen hier nicht.`,
    askAgain: 'Wieder fragen',
    turnOn: (mode: string) => `${mode} einschalten`,
    turnOnTitle: (mode: string) => `${mode} einschalten?`,
    turnOnMore:
      '{agent} ändert jede Datei und startet jeden Befehl auf {machine}, ohne dich zu fragen. Du bekommst keine Fragen gemeldet, weil es keine gibt.',
    turnOnLater:
      '{agent} ändert jede Datei und startet jeden Befehl auf {machine}, ohne dich zu fragen, auch wenn du nicht da bist: {rule}.',
    thisSession: 'Nur diese Sitzung',
    thisSessionMore: 'Auch nach einem Neustart des Rechners',
    allSessions: (agent: string, machine: string) => `Alle neuen Sitzungen mit ${withAgent(agent)} auf ${machine}`,
    allSessionsMore: 'Nicht für Zeitpläne',
    cancel: 'Abbrechen',
  },
};
