/** German texts: questions and sentences of a daemon. */
import type { words as english } from '../en/asks.ts';

const doing: Readonly<Record<string, string>> = { busy: ', arbeitet', waiting: ', wartet auf dich' };

export const words: typeof english = {
  asks: {
    session: (spent) => `Diese Sitzung hat etwa ${spent} gekostet. Weitermachen?`,
    day: (spent) => `Die Sitzungen dieses Agenten auf diesem Rechner haben heute etwa ${spent} gekostet. Weitermachen?`,
    capped: (spent, cap) => `Bei etwa ${spent} gestoppt, dem Eineinhalbfachen deiner Grenze von ${cap}.`,
    held: (program, state, minutes) =>
      `Diese Sitzung ist am Rechner offen (${program}${state === 'idle' ? `, seit ${minutes} min untätig` : (doing[state] ?? '')}). Dort schließen und senden?`,
    likely: (program) => `Diese Sitzung ist vielleicht am Rechner offen (${program}). Senden, sobald sie dort zu ist?`,
    shared: (program) => `Diese Sitzung ist im Hintergrunddienst von ${program} offen. Senden, sobald sie dort zu ist?`,
    foreign: (program) =>
      `Diese Sitzung ist in einem anderen Programm offen (${program}). Senden, sobald sie dort zu ist?`,
    texts: {
      cap_stopped: () => 'Hier aufgehört. Die Nachricht ging nicht an den Agenten.',
      held_kept: () => 'Nicht gesendet: Die Sitzung bleibt am Rechner offen.',
      held_cannot_close: (program) => `Nicht gesendet: Sie läuft in ${program}, und Relay kann das nicht schließen.`,
      held_for_a_day: () => 'Nicht gesendet: Die Sitzung blieb einen Tag lang am Rechner offen.',
      held_restarted: () => 'Der Daemon wurde neu gestartet, während das wartete. Sende es noch einmal.',
      held_since: () => 'Ein anderes Programm hatte die Sitzung offen. Sende die Nachricht noch einmal.',
      desk_answered: () => 'Das Terminal hat deine Antwort.',
      not_sent: () => 'Nicht gesendet',
      agent_silent: () => 'Der Agent war fertig, ohne etwas zu schreiben.',
      agent_done: () => 'Fertig. Der Agent hat nichts weiter geschrieben.',
      agent_not_allowed: () => 'Der Agent hat aufgehört, weil er nicht weitermachen durfte.',
      agent_unanswered: () => 'Der Agent hörte ohne Antwort auf.',
      agent_missing: (agent) =>
        `Der Agent „${agent}“ ist auf diesem Rechner nicht eingerichtet. Starte den Daemon mit ihm.`,
      unknown_command: (command) => `Der Agent hat nichts getan. /${command} ist keiner seiner Befehle.`,
      daemon_stopped: () => 'Der Daemon wurde beendet.',
      daemon_crashed: () => 'Der Daemon stürzte dabei ab. Wie viel davon erledigt ist, ist unbekannt.',
      question_lost: () =>
        'Der Daemon wurde beendet, darum ist die Frage des Agenten nicht mehr offen. Sende eine Nachricht, um weiterzumachen.',
      question_first: () =>
        'Der Agent fragte etwas, bevor er diese Nachricht bekam. Beantworte die Frage und sende sie dann noch einmal.',
      question_closed: () =>
        'Diese Frage ist nicht mehr offen, oder sie hat sich geändert. Der Agent hat nichts bekommen.',
      person_only: () => 'Das kann nur ein Mensch beantworten. Der Agent hat nichts bekommen.',
      unknown_session: () => 'Dieser Rechner kennt die Sitzung nicht. Starte eine neue.',
      no_images: () => 'Dieser Agent nimmt keine Bilder. Sende die Nachricht ohne sie.',
      no_files: () => 'Dieser Rechner nimmt keine Dateien. Sende die Nachricht ohne sie.',
      file_missing: () =>
        'Dieser Rechner hat eine Datei der Nachricht nicht mehr. Der Agent hat nichts bekommen. Sende die Datei noch einmal.',
      files_too_large: () => 'Dateien einer Nachricht können zusammen 100 MiB haben. Der Agent hat nichts bekommen.',
      too_many_tasks: () => 'Dieser Rechner hat zu viele Aufgaben. Versuch es später noch einmal.',
    },
    options: (next, stops) => ({
      continue: 'Weiter',
      raise: `Weiter bis ${next}`,
      stop: 'Hier aufhören',
      take: stops ? 'Dort anhalten und senden' : 'Dort schließen und senden',
      wait: 'Senden, sobald sie dort zu ist',
      anyway: 'Trotzdem senden',
      drop: 'Nicht senden',
    }),
  },
};
