/** German texts: questions of a daemon. */
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
