/** German: words about this device: answers in its notifications, the app on it, and what it keeps. */
import type { words as english } from '../en/here.ts';

export const words: typeof english = {
  here: {
    answers: 'In Benachrichtigungen antworten',
    answersMore: 'Relay bietet diese Antworten auf der Benachrichtigung einer Frage an.',
    answersOf: {
      none: 'Keine: Ein Tippen öffnet die Sitzung',
      reject: 'Ablehnen',
      all: 'Einmal erlauben, Ablehnen und Antworten, wo die ganze Frage zu sehen ist',
    },
    locked:
      'Wer dieses Gerät in der Hand hält, kann sie geben, auch wenn es gesperrt ist und der Sperrbildschirm Benachrichtigungen zeigt. Blende sie dort aus, oder wähle weniger Antworten.',
    device: 'Dieses Gerät',
    install: 'Relay installieren',
    installMore: 'Relay öffnet sich vom Startbildschirm oder Dock aus, in einem eigenen Fenster.',
    installed: 'Relay ist hier installiert.',
    homeScreen: 'Relay zum Home-Bildschirm hinzufügen',
    homeScreenMore:
      'Tippe auf „Teilen“, dann „Zum Home-Bildschirm“. Öffne Relay von dort und melde dich noch einmal an.',
    homeScreenPicture: 'Die Schaltfläche „Teilen“ von Safari und die Zeile „Zum Home-Bildschirm“ in ihrem Menü',
    keep: 'Zuletzt Gelesenes auf diesem Gerät behalten',
    keepMore:
      'Bis zu 20 Sitzungen, um sie ohne Verbindung zu lesen. Sie werden gelöscht, wenn du dich abmeldest oder jemand anderes sich anmeldet.',
    keeps: 'Ein',
    keepsNot: 'Aus',
    newVersion: 'Eine neue Version von Relay ist bereit.',
    reload: 'Neu laden',
    offline: 'Du bist offline. Das wurde hier gelesen, Stand {time}.',
    noneThen: 'Es gab keine Sitzungen.',
    notKept: 'Diese Sitzung wurde auf diesem Gerät nicht behalten.',
    allSessions: 'Alle Sitzungen',
  },
};
