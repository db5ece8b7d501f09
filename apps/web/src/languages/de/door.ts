/** German texts: new accounts, of programs that ask for access, of failed sign-ins, and of a wrong address. */
import type { words as english } from '../en/door.ts';

export const words: typeof english = {
  create: {
    title: { setup: 'Das erste Konto anlegen', invite: 'Du bist eingeladen', open: 'Konto anlegen' },
    useless: {
      setup: 'Dieser Link wurde benutzt oder ersetzt. Nimm den neuesten im Terminal. Hast du ein Konto, melde dich an.',
      invite:
        'Diese Einladung wurde benutzt oder ist abgelaufen. Bitte um eine neue. Hast du ein Konto, melde dich an.',
      open: 'Neue Konten brauchen eine Einladung. Frag jemanden, der ein Konto hat.',
    },
    alreadyIn: 'Du bist schon angemeldet. {home}',
    checking: 'Link wird geprüft…',
    name: 'Dein Name',
    emailHint: 'Damit meldest du dich an. Relay verschickt keine E-Mails.',
    creating: 'Dein Konto wird angelegt…',
    create: 'Konto anlegen',
  },
  secondStep: {
    code: 'Code',
    codeHint: 'Die sechs Ziffern, die deine Authenticator-App gerade zeigt.',
    recoveryCode: 'Wiederherstellungscode',
    recoveryHint: 'Einer der zehn, die du gespeichert hast. Jeder gilt einmal.',
    useRecovery: 'Stattdessen einen Wiederherstellungscode nehmen',
    useApp: 'Stattdessen den Code der App nehmen',
    again: 'Von vorn beginnen',
  },
  consent: {
    title: 'Zugriff erlauben?',
    checking: 'Anfrage wird geprüft…',
    wants: '{app} möchte dein Konto {email} nutzen. Damit darf es:',
    returns: (where) =>
      `Danach geht es zurück zu ${where}. Erlaube nur, was du selbst begonnen hast. Du kannst es jederzeit unter Einstellungen, Apps widerrufen.`,
    app: (protocol) => `einer App auf diesem Gerät (${protocol})`,
    program: (host) => `einem Programm auf diesem Computer (${host})`,
    unknown: 'einer unbekannten Adresse',
    deny: 'Ablehnen',
    denying: 'Wird abgelehnt…',
    allow: 'Erlauben',
    allowing: 'Wird erlaubt…',
    done: 'Alles bereit',
    goBack: (app) => `Geh zurück zu ${app ?? 'deiner App'}; diese Seite kannst du schließen.`,
  },
  failedSignIn: {
    title: 'Die Anmeldung hat nicht geklappt',
    code: 'Code: {code}',
    unknown: 'Geh zurück zur App oder Seite, von der du kommst, und versuch es noch einmal.',
    byCode: {
      invalid_client:
        'Dieses Relay kennt die App nicht, die dich hierher geschickt hat. Aktualisiere sie, oder frag, wer sie dir gegeben hat.',
      invalid_redirect:
        'Die App, die dich hierher geschickt hat, will ihre Antwort an eine fremde Adresse. Benutze sie nicht.',
      invalid_redirect_uri:
        'Die App, die dich hierher geschickt hat, will ihre Antwort an eine fremde Adresse. Benutze sie nicht.',
      invalid_scope: 'Die App, die dich hierher geschickt hat, verlangt etwas, das es nicht gibt. Aktualisiere sie.',
      account_not_linked:
        'Mit dieser E-Mail gibt es ein Konto mit Passwort. Melde dich damit an; Konten werden nie über die Adresse verbunden.',
      email_not_found:
        'Der Dienst hat deine E-Mail nicht mitgeteilt, und ein Konto braucht eine. Erlaube es, oder melde dich anders an.',
      FORBIDDEN: 'Du hast hier kein Konto, und ein neues braucht eine Einladung. Frag jemanden, der ein Konto hat.',
      state_mismatch: 'Diese Anmeldung begann in einem anderen Browser oder ist zu alt. Beginne hier neu.',
      state_not_found: 'Diese Anmeldung begann in einem anderen Browser oder ist zu alt. Beginne hier neu.',
      access_denied: 'Du hast es nicht erlaubt, es hat sich also nichts geändert.',
    },
  },
  elsewhere: {
    title: 'Falsche Adresse',
    at: 'Du bist auf {here}; dieses Relay wohnt auf {there}.',
    go: 'Dorthin',
    operator: 'Betreibst du dieses Relay und ist die Adresse falsch, setze {setting} und starte es neu.',
  },
};
