/** German texts: a session that a terminal has open as well. */
import type { words as english } from '../en/desk.ts';
import { plural } from '../formats.ts';

/** `12 Min.`, `3 Std.` */
const span = (ms: number): string => {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  return minutes < 100 ? plural(minutes, { other: '# Min.' }) : plural(Math.round(minutes / 60), { other: '# Std.' });
};

export const words: typeof english = {
  desk: {
    open: 'Am Rechner geöffnet',
    openWorking: 'Am Rechner geöffnet, arbeitet',
    working: 'Arbeitet am Rechner',
    waits: 'Wartet am Rechner auf dich',
    foreign: 'In einem anderen Programm geöffnet',
    shared: (agent) => `Im Hintergrunddienst von ${agent} geöffnet`,
    likely: 'Vielleicht am Rechner geöffnet',
    idleFor: (machine, ms) => `Terminal auf ${machine}, seit ${span(ms)} untätig`,
    workingFor: (machine, ms) => `Terminal auf ${machine}, seit ${span(ms)}`,
    waitsFor: (machine, what) => `Terminal auf ${machine}: ${what}`,
    terminalOn: (machine) => `Terminal auf ${machine}`,
    programOn: (program, machine) => `${program} auf ${machine}`,
    on: (machine) => `auf ${machine}`,
    typed: 'am Rechner',
    continueHere: 'Hier weiter',
    continuing: 'Wird geschlossen…',
    details: 'Details',
    close: 'Schließen',
    results: {
      released: 'Am Rechner geschlossen. Die Sitzung gehört dir.',
      not_held: 'Sie war schon geschlossen.',
    },
    busy: (agent) => `${agent} arbeitet dort. Anhalten?`,
    stop: 'Anhalten',
    failed: (terminal) => `Es ging nicht zu. Schließe es in ${terminal}.`,
    itsTerminal: 'seinem Terminal',
    cannot: (program) => `Relay kann es nicht schließen: Es läuft in ${program}.`,
    offline: (machine) => `${machine} ist offline.`,
    silent: (machine) => `${machine} hat nicht geantwortet. Soweit Relay weiß, wurde nichts geschlossen.`,
    ask: {
      title: 'Noch am Rechner geöffnet',
      idle: (agent, machine, ms) =>
        `${agent} hat diese Sitzung in einem Terminal auf ${machine} offen, seit ${span(ms)} untätig. Zwei zugleich würden ihren Verlauf spalten.`,
      other: (agent, machine) =>
        `${agent} hat diese Sitzung auf ${machine} offen. Zwei zugleich würden ihren Verlauf spalten.`,
      take: 'Dort schließen und senden',
      takeMore: 'Das Terminal zeigt, wie die Sitzung weitergeht.',
      stop: 'Dort anhalten und senden',
      stopMore: (agent) => `Was ${agent} gerade tut, wird unterbrochen.`,
      wait: 'Senden, sobald sie dort zu ist',
      waitMore: 'Geht dann zuerst. Wartet höchstens einen Tag.',
      draft: 'Als Entwurf behalten',
    },
    facts: {
      program: 'Programm',
      terminal: 'Terminal',
      folder: 'Ordner',
      since: 'Seit',
      more: 'Relay beendet nur deine eigenen Programme, die allein diese Sitzung offen haben.',
    },
    resume: {
      title: 'Am Rechner weiter',
      free: 'Hier läuft nichts, die Sitzung ist frei.',
      busy: (agent) => `${agent || 'Der Agent'} arbeitet. Halte an oder warte, dann geht der Befehl.`,
      question: 'Hier ist eine Frage offen. Beantworte sie zuerst.',
      held: 'Sie ist am Rechner schon geöffnet.',
      waiting: 'Hier wartet eine Nachricht, bis sie dort zu ist.',
      on: (machine) => `Auf ${machine}`,
      onMore: (agent) =>
        `Geht ${agent === '' ? 'im Agenten' : `in ${agent}`} selbst weiter. Hier siehst du sie als „Am Rechner geöffnet“.`,
      update: (machine) => `Aktualisiere den Daemon auf ${machine}, um den Befehl zu sehen.`,
      none: (agent) => `Relay kennt den Befehl von ${agent || 'diesem Agenten'} nicht.`,
      command: 'Befehl',
      attach: 'In jedem Terminal, das bei Relay angemeldet ist',
      attachMore: 'Ein weiteres Fenster auf diese Sitzung, live, mit ihren Fragen. Nichts zieht um.',
    },
  },
};
