/** German texts: an open session. */
import type { words as english } from '../en/session.ts';
import { capital, lasted, listOf, number, plural, size, timeOf } from '../formats.ts';

const toThe = (agent: string) => (agent === '' ? 'den Agenten' : agent === 'demo' ? 'den Demo-Agenten' : agent);

const verbs: Readonly<Record<string, readonly [now: string, past: string]>> = {
  read: ['Liest', 'Gelesen:'],
  create: ['Erstellt', 'Erstellt:'],
  edit: ['Bearbeitet', 'Bearbeitet:'],
  delete: ['Löscht', 'Gelöscht:'],
  move: ['Verschiebt', 'Verschoben:'],
  search: ['Sucht', 'Gesucht:'],
  execute: ['Führt aus', 'Ausgeführt:'],
  think: ['Denkt nach', 'Nachgedacht:'],
  fetch: ['Ruft ab', 'Abgerufen:'],
  other: ['Verwendet', 'Verwendet:'],
};
const verb = (does: string | undefined) => verbs[does ?? ''] ?? verbs['other']!;
const calls = (does: string, count: number): string => {
  if (does === 'read') return plural(count, { one: 'eine Datei gelesen', other: '# Dateien gelesen' });
  if (does === 'search') return plural(count, { one: 'einmal gesucht', other: '#-mal gesucht' });
  return plural(count, { one: 'eine Seite abgerufen', other: '# Seiten abgerufen' });
};

export const words: typeof english = {
  asOf: (time) => `Stand ${time}.`,
  log: 'Unterhaltung',
  you: 'Du',
  agent: 'Agent',
  relay: 'Relay',
  session: 'Sitzung',
  loading: 'Sitzung wird geladen…',
  gone: 'Diese Sitzung wurde gelöscht.',
  bell: {
    title: 'Benachrichtigungen dieser Sitzung',
    levels: {
      all: ['Alles', 'Auch was in den Einstellungen aus ist'],
      watched: ['Wie eingestellt', 'Wie für beobachtete Sitzungen'],
      off: ['Aus', 'Nichts aus dieser Sitzung'],
    },
  },
  nudge: 'Lass dich auch bei geschlossener Seite benachrichtigen.',
  nudgeYes: 'Benachrichtigungen einschalten',
  nudgeNo: 'Nicht jetzt',
  allSessions: 'Alle Sitzungen',
  more: 'Mehr',
  title: 'Titel',
  archived: 'Archiviert',
  newSince: (iso) => (timeOf(iso) === '' ? 'Neu' : `Neu seit ${timeOf(iso)}`),
  newBelow: (count) => `${number(count)} neu`,
  toTheEnd: 'Zum Neuesten',
  loadEarlier: 'Frühere Nachrichten laden',
  readers: { newMessage: (speaker, text) => `${speaker}: ${text}` },
  message: {
    received: 'Angekommen',
    showAll: 'Alles zeigen',
    showLess: 'Weniger zeigen',
    copy: 'Text kopieren',
    cutUnknown: 'Gekürzt. Alles liegt auf dem Rechner.',
  },
  thought: {
    now: 'Denkt nach',
    done: (ms = 0) => (ms < 1000 ? 'Nachgedacht' : `${lasted(ms)} nachgedacht`),
  },
  code: {
    region: (language) => (language === '' ? 'Code' : `Code, ${language}`),
    plain: 'Text',
    copyFailed: 'Kopieren nicht möglich',
    wrap: 'Zeilen umbrechen',
  },
  table: 'Tabelle',
  tool: {
    waiting: 'Wartet',
    failed: 'Fehlgeschlagen',
    cancelled: 'Abgebrochen',
    notRun: 'Nicht ausgeführt',
    unknown: 'Unbekannt',
    rejected: 'Abgelehnt',
    answered: (answer, by = '') => {
      const verdict = answer && (answer === 'allowed' ? 'erlaubt' : 'abgelehnt');
      const place = by === 'machine' ? 'am Rechner' : by && `auf ${by}`;
      return capital(`${verdict ?? ''} ${place}`.trim());
    },
    done: 'Fertig',
    now: (does) => verb(does)[0],
    past: (does) => verb(does)[1],
    exit: (code) => `Exit-Code ${code}`,
    output: (title) => `Ausgabe von ${title}`,
    noOutput: 'Keine Ausgabe.',
    given: 'Eingabe',
    folded: (counts) => capital(listOf([...counts].map(([does, n]) => calls(does, n)))),
  },
  terminal: {
    all: (lines) => `Alle ${number(lines)} Zeilen zeigen`,
    last: 'Nur die letzten Zeilen zeigen',
    left: (bytes) => `${size(bytes)} in der Mitte fehlen`,
    whole: 'Ganze Ausgabe zeigen',
    gone: 'Der Rechner hat den Rest dieser Ausgabe nicht mehr.',
    failed: 'Die Ausgabe lädt nicht. Versuch es noch einmal.',
  },
  diff: {
    region: (path) => `Änderungen an ${path}`,
    show: (count) => plural(count, { one: 'Noch # geänderte Zeile zeigen', other: 'Noch # geänderte Zeilen zeigen' }),
    screen: 'Vollbild',
    onScreen: (path) => `Vollbild, ${path}`,
    close: 'Schließen',
    next: 'Nächste Datei',
    previous: 'Vorige Datei',
    fileOf: (index, all) => `Datei ${number(index)} von ${number(all)}`,
    tooLarge: 'Binär oder zu groß zum Anzeigen.',
    noLines: 'Keine Zeile geändert.',
    moved: (from) => `verschoben von ${from}`,
    added: (count) => `${number(count)} hinzugefügt`,
    removed: (count) => `${number(count)} entfernt`,
  },
  plan: {
    title: 'Plan',
    progress: (done, all) => `${number(done)} von ${number(all)}`,
    done: 'Erledigt:',
    now: 'Jetzt:',
    open: 'Offen:',
  },
  image: {
    alt: 'Bild',
    larger: 'Bild vergrößern',
    smaller: 'Bild verkleinern',
    ofType: (type, bytes) => `${type} · ${size(bytes)}`,
  },
  mark: {
    cancelled: 'Du hast den Agenten hier gestoppt.',
    interrupted: 'Der Agent wurde hier unterbrochen.',
    compacted: 'Zusammengefasst, um Kontext freizugeben.',
    continue: 'Weitermachen',
    goOn: 'Mach weiter, wo du aufgehört hast.',
  },
  unknown: 'Dieser Teil lässt sich hier nicht anzeigen.',
  dock: {
    sending: (agent) => `Wird an ${toThe(agent)} gesendet`,
    queued: 'In der Warteschlange',
    stopThis: 'Nur das hier stoppen',
    stopAll: 'Stoppen und leeren',
    stop: 'Stoppen',
    stopTitle: 'Den Agenten stoppen',
    offline: '{machine} ist offline. Nachrichten warten bis zu 15 Minuten. Starte ihn mit {command}',
    startAgain: 'Mit dieser Nachricht neu beginnen',
    later: 'Wartet auf das Netz und wird dann gesendet.',
    unread: (machine) => `Frühere Nachrichten auf ${machine} fehlen gerade.`,
    message: 'Nachricht',
    messageTo: (agent) => `Nachricht an ${toThe(agent)}`,
    queue: 'In die Warteschlange stellen',
    instead: 'Oder sag ihm, was es stattdessen tun soll',
    send: 'Senden',
    sendingNow: 'Wird gesendet',
    commands: 'Befehle',
    diffCommand: 'Zeigt die Änderungen an den Dateien',
    commandsTitle: 'Befehle',
    enter: 'senden',
  },
};
