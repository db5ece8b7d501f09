/** German: what went wrong, by stable code: one sentence that says what to do. */
import type { words as english } from '../en/errors.ts';
import { plural } from '../formats.ts';

export const words: typeof english = {
  errors: {
    byCode: {
      OFFLINE: 'Relay ist nicht erreichbar. Prüfe deine Verbindung und versuch es noch einmal.',
      TIMEOUT: 'Relay hat zu lange nicht geantwortet. Versuch es noch einmal.',
      BAD_ANSWER: 'Ein Proxy oder eine Anmeldeseite ist im Weg. Lade diese Seite neu.',
      UNEXPECTED: 'Auf dieser Seite ist etwas schiefgegangen. Lade sie neu.',
      NO_SIGN_IN: 'Dieses Relay hat keine Anmeldeseite. Nimm die App, die du bekommen hast.',
      SIGN_IN_FAILED: 'Die Anmeldung wurde nicht fertig. Lade diese Seite neu.',

      INVALID_EMAIL_OR_PASSWORD: 'E-Mail oder Passwort ist falsch.',
      ACCOUNT_DISABLED: 'Dieses Konto ist gesperrt. Frag den Betreiber dieses Relays.',
      INVALID_CODE: 'Dieser Code ist falsch. Gib den ein, den die App jetzt zeigt, und prüfe die Uhr deines Telefons.',
      INVALID_BACKUP_CODE: 'Dieser Wiederherstellungscode ist falsch oder wurde schon benutzt.',
      ONE_TIME_CODE_USED: 'Dieser Code wurde schon benutzt. Warte, bis die App den nächsten zeigt.',
      INVALID_TWO_FACTOR_COOKIE: 'Diese Anmeldung hat zu lange gewartet. Beginne noch einmal mit deinem Passwort.',
      TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: 'Zu viele falsche Codes. Beginne noch einmal mit deinem Passwort.',
      ACCOUNT_TEMPORARILY_LOCKED: 'Zu viele falsche Codes hintereinander. Versuch es in 15 Minuten noch einmal.',
      TOTP_ALREADY_ENABLED: 'Der zweite Schritt ist schon an. Lade diese Seite neu.',
      SECOND_FACTOR_UNREADABLE:
        'Dieses Relay kann deine Codes nicht prüfen. Bitte den Betreiber, den zweiten Schritt zurückzusetzen.',
      SECOND_FACTOR_REQUIRED: 'Das Passwort stimmte. Der zweite Schritt fehlt.',
      PASSKEY_CANCELLED: 'Nichts geschehen. Versuch es noch einmal und bestätige auf deinem Gerät.',
      PASSKEY_EXISTS: 'Dieses Gerät hat schon einen Passkey für dein Konto.',
      PASSKEY_FAILED: 'Dein Gerät konnte das nicht. Nimm ein anderes oder dein Passwort.',
      PASSKEY_NOT_FOUND: 'Dieser Passkey wurde aus dem Konto entfernt. Nimm dein Passwort.',
      PASSKEY_UNVERIFIED:
        'Dein Gerät hat nicht geprüft, dass du es bist. Richte seine Bildschirmsperre oder PIN ein und versuch es noch einmal.',
      CHALLENGE_NOT_FOUND: 'Das hat zu lange gewartet. Versuch es noch einmal.',
      AUTHENTICATION_FAILED: 'Dieser Passkey wurde nicht angenommen. Versuch es noch einmal oder nimm dein Passwort.',
      TOO_MANY_PASSKEYS: 'Du hast 20 Passkeys. Entferne erst einen.',
      PASSWORD_REQUIRED: 'Du meldest dich über einen anderen Dienst an. Nimm dort einen Passkey.',
      INVALID_EMAIL: 'Das ist keine E-Mail-Adresse. Prüfe sie und versuch es noch einmal.',
      INVALID_PASSWORD: 'Das aktuelle Passwort ist falsch. Versuch es noch einmal.',
      PASSWORD_TOO_SHORT: 'Das Passwort ist zu kurz. Wähle ein längeres.',
      PASSWORD_TOO_COMMON: 'Dieses Passwort ist zu verbreitet. Wähle ein anderes.',
      PASSWORD_TOO_LONG: 'Das Passwort ist zu lang. Höchstens 128 Zeichen.',
      USER_ALREADY_EXISTS: 'Mit dieser E-Mail gibt es schon ein Konto. Melde dich an.',
      USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'Mit dieser E-Mail gibt es schon ein Konto. Melde dich an.',
      INVALID_ORIGIN: 'Das ist nicht die eigene Adresse des Relays. Öffne es unter seiner eigenen.',

      UNAUTHORIZED: 'Du bist nicht angemeldet. Melde dich noch einmal an.',
      INVALID_TOKEN: 'Deine Anmeldung gilt nicht mehr. Melde dich noch einmal an.',
      TOKEN_EXPIRED: 'Deine Anmeldung ist abgelaufen. Melde dich noch einmal an.',
      TOKEN_REVOKED: 'Du wurdest abgemeldet. Melde dich noch einmal an.',
      INSUFFICIENT_SCOPE: 'Mit dieser Anmeldung geht das nicht. Melde dich ab und wieder an.',
      SIGN_IN_NOT_RECENT: 'Deine Anmeldung ist älter als 15 Minuten. Gib dein Passwort ein oder melde dich neu an.',
      RATE_LIMITED: 'Zu viele Versuche. Versuch es in einer Minute noch einmal.',
      INTERNAL_ERROR: 'Auf dem Server ist etwas schiefgegangen. Versuch es noch einmal.',
      PAYLOAD_TOO_LARGE: 'Zu groß. Nachrichten dürfen 256 KB haben, Bilder 5 MB.',

      INVALID_IMAGE: 'Eines der Bilder ist ungültig. Entferne es oder speichere es als PNG.',
      AGENT_NOT_OFFERED: 'Dieser Rechner bietet den Agenten nicht mehr an. Wähle einen anderen.',
      NOT_SUPPORTED_BY_DEVICE:
        'Dieser Rechner kann das nicht. Sende die Nachricht ohne Bilder oder aktualisiere seinen Daemon.',

      SESSION_NOT_FOUND: 'Sitzung nicht gefunden. Vielleicht wurde sie gelöscht.',
      DEVICE_NOT_FOUND: 'Rechner nicht gefunden. Vielleicht wurde er entfernt.',
      ADDRESS_NOT_ALLOWED: 'Diese Adresse geht nicht. Sie braucht https und muss aus dem Internet erreichbar sein.',
      SUBSCRIPTION_NOT_FOUND: 'Diese Adresse wurde entfernt.',
      SUBSCRIPTION_TAKEN: 'Dieser Browser benachrichtigt ein anderes Konto. Setz seine Benachrichtigungen zurück.',
      TOO_MANY_KEYS: 'Du hast 20 Schlüssel. Widerrufe zuerst einen.',
      TOO_MANY_SUBSCRIPTIONS: 'Du hast 20 Adressen. Entferne zuerst eine.',
      KIND_NOT_CONFIGURED: 'So kann dieses Relay nicht benachrichtigen.',
      ITEM_NOT_FOUND: 'Das wartet nicht mehr auf dich.',
      ITEM_NEEDS_ANSWER: 'Das endet mit der Antwort, oder wenn der Rechner wieder da ist.',
      PUSH_OUT_OF_REACH:
        'Dieser Browser erreicht seinen Push-Dienst nicht. Prüfe Firewall, VPN und Browser, oder füge unten ntfy hinzu.',
      CODE_NOT_FOUND:
        'Mit diesem Code wartet kein Rechner. Prüfe ihn, oder beginne im Terminal neu, falls er abgelaufen ist.',
      CODE_ALREADY_USED: 'Dieser Code wurde schon benutzt. Beginne im Terminal neu, um einen anderen zu bekommen.',
      DEVICE_OFFLINE: 'Der Rechner ist offline. Starte ihn und versuch es noch einmal.',
      DEVICE_TIMEOUT: 'Der Rechner hat zu lange nicht geantwortet. Versuch es noch einmal.',
      QUEUE_FULL: 'Die Warteschlange ist voll. Entferne etwas oder warte.',
      SESSION_NOT_RESOLVED: 'Der Agent hat diese Sitzung nie begonnen. Starte eine neue.',
      PROMPT_ALREADY_ANSWERED: 'Schon beantwortet.',
      PROMPT_SUPERSEDED: 'Diese Frage ist nicht mehr offen. Der Agent hat nichts bekommen.',
      PROMPT_NOT_FOUND: 'Diese Frage ist nicht mehr offen. Der Agent hat nichts bekommen.',
      INVALID_ANSWER: 'Diese Frage braucht eine ihrer Antworten. Wähle oben eine aus.',
      PROMPT_REFERENCE_REQUIRED: 'Der Agent hat etwas gefragt. Beantworte zuerst seine Frage.',
      NO_RUNNING_TASK: 'Es gibt nichts mehr zu stoppen.',
      IDEMPOTENCY_CONFLICT: 'Das wurde nicht gesendet. Sende es noch einmal.',

      AGENT_ERROR: 'Der Agent wurde mit einem Fehler beendet.',
      DELIVERY_UNKNOWN: 'Die Verbindung brach beim Senden ab. Sieh oben nach, ob es schon läuft.',
      TASK_LOST: 'Der Rechner hat diese Arbeit aus den Augen verloren. Ob sie fertig wurde, ist unbekannt.',
      TASK_EXPIRED: 'Der Rechner kam nicht rechtzeitig online, deshalb wurde das nicht gesendet. Sende es noch einmal.',
      DEVICE_REMOVED: 'Der Rechner wurde entfernt, während deine Nachricht wartete.',
    },
    tooOften: (seconds) =>
      plural(seconds, {
        one: 'Zu viele Versuche. Versuch es in # Sekunde noch einmal.',
        other: 'Zu viele Versuche. Versuch es in # Sekunden noch einmal.',
      }),
    unknown: 'Das hat nicht geklappt. Versuch es noch einmal.',
    unknownTask: 'Das wurde nicht fertig. Sende deine Nachricht noch einmal.',
  },
};
