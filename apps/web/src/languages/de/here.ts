/** German texts: this device: answers in its notifications, the app on it, the data it keeps, and why a notification did not arrive. */
import type { words as english } from '../en/here.ts';

/** Keyed by the sentences of the relay. */
const reasons: Readonly<Record<string, string>> = {
  'An app showed the session, and it was read there.': 'Eine App zeigte die Sitzung, und sie wurde dort gelesen.',
  'An app shows the session: sent unless it is read there.':
    'Eine App zeigt die Sitzung: Gesendet wird nur, wenn sie dort nicht gelesen wird.',
  'An instance ended while it was sent.': 'Eine Instanz des Relays endete beim Senden.',
  'Another address of its group was notified.': 'Eine andere Adresse der Gruppe wurde benachrichtigt.',
  'Held until your quiet hours end.': 'Zurückgehalten, bis deine Ruhezeit endet.',
  'It is no address.': 'Das ist keine Adresse.',
  'It is not an address of the public internet.': 'Das ist keine Adresse im öffentlichen Internet.',
  'It may not hold a user or a password.': 'Die Adresse darf weder Benutzer noch Passwort enthalten.',
  'It must be https on port 443.': 'Die Adresse muss https auf Port 443 sein.',
  'It must begin with https://.': 'Die Adresse muss mit https:// beginnen.',
  'It took nothing for seven days.': 'Die Adresse nahm sieben Tage lang nichts an.',
  'It was not sent in time.': 'Sie wurde nicht rechtzeitig gesendet.',
  'It was over before it was sent.': 'Es hatte sich vor dem Senden erledigt.',
  'It was sent in one message with others.': 'Sie wurde mit anderen in einer Nachricht gesendet.',
  'Off for this address.': 'Für diese Adresse ausgeschaltet.',
  'Off for this session.': 'Für diese Sitzung ausgeschaltet.',
  'Off in your settings.': 'In deinen Einstellungen ausgeschaltet.',
  'Sent if it is still open then.': 'Wird gesendet, wenn es dann noch offen ist.',
  'The address is paused.': 'Die Adresse ist angehalten.',
  'The address leads into a network that is not public.': 'Die Adresse führt in ein Netz, das nicht öffentlich ist.',
  'The keys of this address are not valid. Subscribe again.':
    'Die Schlüssel dieser Adresse sind ungültig. Schalte die Benachrichtigungen dort neu ein.',
  'The question was answered before.': 'Die Frage wurde schon vorher beantwortet.',
  'The relay can no longer read this address. Add it again.':
    'Das Relay kann diese Adresse nicht mehr lesen. Füge sie neu hinzu.',
  'The service does not accept this relay. Its operator has to look after the key.':
    'Der Dienst nimmt von diesem Relay nichts an. Der Betreiber des Relays muss sich um den Schlüssel kümmern.',
  'The session is not watched.': 'Die Sitzung wird nicht beobachtet.',
  'There were many in a minute, so the rest comes in one message.':
    'Es waren viele in einer Minute, darum kommt der Rest in einer Nachricht.',
  'This relay does not notify apps of this kind.': 'Dieses Relay benachrichtigt Apps dieser Art nicht.',
  'This relay no longer has the key of this browser. Subscribe again.':
    'Dieses Relay hat den Schlüssel dieses Browsers nicht mehr. Schalte die Benachrichtigungen neu ein.',
  'the address was removed': 'Die Adresse wurde entfernt.',
};
const withNumbers: readonly (readonly [RegExp, string])[] = [
  [/^It is longer than (\d+) characters\.$/, 'Die Adresse ist länger als $1 Zeichen.'],
  [/^The service answered (\d+)\.$/, 'Der Dienst antwortete $1.'],
  [/^The service answered (\d+)\. Check the address\.$/, 'Der Dienst antwortete $1. Prüfe die Adresse.'],
  [/^The service did not answer( \(\w+\))?\.$/, 'Der Dienst antwortete nicht$1.'],
];

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
    reason: (reason) => {
      const german = reasons[reason];
      if (german !== undefined) return german;
      const [sign, translated] = withNumbers.find(([one]) => one.test(reason)) ?? [];
      return sign && translated !== undefined ? reason.replace(sign, translated) : reason;
    },
  },
};
