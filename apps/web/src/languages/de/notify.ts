/** German texts: the settings and the history of notifications. */
import type { words as english } from '../en/notify.ts';
import { fullTime, plural } from '../formats.ts';

export const words: typeof english = {
  notices: {
    choose: 'Worüber du benachrichtigt wirst',
    causes: {
      needs_you: 'Ein Agent braucht dich',
      failed: 'Ein Agent ist gescheitert',
      unknown: 'Eine Nachricht kam vielleicht nicht an',
      done: 'Ein Agent ist fertig',
      device: 'Ein Rechner hat ein Problem',
    },
    levels: { off: 'Aus', watched: 'Beobachtete Sitzungen', all: 'Alle Sitzungen' },
    on: 'An',
    asAbove: 'Wie für dich gewählt',
    access: 'Neuer Zugang zu deinem Konto wird immer gemeldet.',
    quiet: 'Ruhezeit',
    quietOn: 'Benachrichtigungen in dieser Zeit zurückhalten und danach zusammen senden',
    from: 'Von',
    to: 'Bis',
    zone: 'Zeitzone',
    days: 'An den Tagen',
    passes: 'Trotzdem benachrichtigen',
    held: (count, until) =>
      `${plural(count, { one: '# Benachrichtigung wird zurückgehalten', other: '# Benachrichtigungen werden zurückgehalten' })}${until === undefined ? '' : `, bis ${fullTime(until)}`}.`,
    delay: 'Warten',
    delays: (seconds) =>
      seconds === 0 ? 'Sofort benachrichtigen' : plural(Math.round(seconds / 60), { one: 'Nur wenn nach # Minute noch offen', other: 'Nur wenn nach # Minuten noch offen' }), // prettier-ignore
    group: 'Gruppe',
    groupHint: 'Adressen derselben Gruppe werden nacheinander versucht, bis eine funktioniert.',
    back: 'Benachrichtigungen',
    history: 'Verlauf',
    historyLead: 'Deine Benachrichtigungen der letzten 30 Tage, und was aus ihnen wurde',
    loading: 'Benachrichtigungen werden geladen…',
    none: 'Noch keine Benachrichtigungen',
    older: 'Ältere laden',
    kinds: {
      needs_you: 'Ein Agent brauchte dich',
      failed: 'Ein Agent ist gescheitert',
      unknown: 'Eine Nachricht kam vielleicht nicht an',
      done: 'Ein Agent war fertig',
      device_conflict: 'Zwei Rechner mit einer Registrierung',
      device_allowed: 'Ein Rechner wurde zugelassen',
      program_allowed: 'Eine App wurde zugelassen',
      account_changed: 'Dein Konto wurde geändert',
    },
    another: 'Eine Benachrichtigung',
    states: {
      pending: 'Wartet',
      sending: 'Wird gesendet',
      accepted: 'Zugestellt',
      failed: 'Nicht zugestellt',
      gone: 'Nicht zugestellt',
      unknown: 'Ungewiss',
      expired: 'Zu spät',
      superseded: 'Nicht mehr nötig',
      suppressed: 'Nicht gesendet',
    },
    unaddressed: 'Du hattest keine Adresse für Benachrichtigungen.',
    removed: 'Eine entfernte Adresse',
    twice: 'Sie kam vielleicht zweimal an.',
    inDigest: 'Teil einer Nachricht mit anderen.',
    openSession: 'Sitzung öffnen',
  },
};
