/** Deutsch: Worte der Nachrichten mit einer Zeit. */
import { plural } from '../formats.ts';
import type { words as english } from '../en/later.ts';

/** Limits by the name that agents report. */
const limits: Readonly<Record<string, string>> = { five_hour: '5-Stunden-Limit', seven_day: 'Wochenlimit' };

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
    limitOf: (name: string, agent: string) =>
      `${limits[name] ?? 'Nutzungslimit'}${agent === '' ? '' : ` von ${agent}`}`,
    resets: (time: string) => `endet ${time}`,
    goOn: 'Mach weiter, wo du aufgehört hast.',
    goOnText: 'Nachricht',
    goOnAt: (time: string) => `Um ${time} weitermachen?`,
    goOnThen: (time: string) => `Um ${time} weitermachen`,
    goOnNow: 'Jetzt weitermachen',
    limitOver: 'Das Limit ist vorbei. Weitermachen?',
    noTime: (agent: string) =>
      `${agent || 'Der Agent'} hat nicht gemeldet, wann das Limit endet. Später noch einmal versuchen?`,
    inHours: (hours: number) => plural(hours, { one: 'In 1 Stunde', other: 'In # Stunden' }),
    otherTime: 'Andere Zeit …',
    notNow: 'Nicht jetzt',
    always: 'Immer von selbst weitermachen',
    alwaysMore: (agent, machine) => `${agent} auf ${machine}, höchstens 3 Mal hintereinander`,
    byItself: (time) => `Um ${time} von selbst weitergemacht, wie du es gewählt hast.`,
    unlessYouWrite: (machine: string) =>
      `Wird innerhalb von zwei Minuten danach gesendet, auch wenn diese Seite geschlossen ist, falls ${machine} online ist. Schreibst du vorher, wird es nicht gesendet.`,
  },
};
