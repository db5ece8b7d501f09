/** German texts: the figures of use. */
import type { words as english } from '../en/usage.ts';
import { capital, number, plural } from '../formats.ts';

const the = (agent: string) => (agent === '' ? 'der Agent' : agent === 'demo' ? 'der Demo-Agent' : agent);
const from = (agent: string) => (agent === '' ? 'vom Agenten' : agent === 'demo' ? 'vom Demo-Agenten' : `von ${agent}`);
const limits: Readonly<Record<string, string>> = {
  five_hour: '5 Stunden',
  seven_day: 'Diese Woche',
  seven_day_opus: 'Diese Woche, Opus',
  seven_day_sonnet: 'Diese Woche, Sonnet',
  overage: 'Zusätzliche Nutzung',
};

export const words: typeof english = {
  usage: {
    title: 'Verbrauch',
    ring: (percent) => (percent === undefined ? 'Verbrauch' : `Kontext zu ${percent} % voll. Verbrauch`),
    beside: (percent) => `Kontext ${percent} %`,
    close: 'Schließen',
    share: (percent) => `${percent} % des Kontexts`,
    tokens: (used, size) =>
      size === undefined ? `${number(used)} Token` : `${number(used)} von ${number(size)} Token`,
    compact: 'Verdichten',
    session: 'Diese Sitzung',
    today: 'Heute, alle Rechner',
    estimated: (agent) => `Geschätzt ${from(agent)} zu API-Preisen. Ein Tarif kann das schon abdecken.`,
    noCost: (agent) => `${capital(the(agent))} nennt keine Kosten.`,
    limits: 'Grenzen des Tarifs',
    noLimits: (agent) => `${capital(the(agent))} nennt keine Grenzen.`,
    limit: (id, name) => limits[id] ?? name,
    limitFacts: (percent, resets) =>
      [percent === undefined ? '' : `${percent} %`, resets === undefined ? '' : `neu ab ${resets}`]
        .filter(Boolean)
        .join(' · '),
    from: (agent, machine, when) => `${capital(from(agent))} auf ${machine}, ${when}`,
    askMe: 'Frag mich ab',
    askMeOf: (isSession, where) => `${isSession ? 'pro Sitzung' : 'pro Tag'}, ${where}`,
    never: 'Nie',
    where: (agent, machine) => `${agent === '' ? 'Agent' : agent === 'demo' ? 'Demo-Agent' : agent} auf ${machine}`,
    byDay: 'Verbrauch nach Tagen',
    lead: 'Aufträge, Kosten und Token deiner Agenten in den letzten 30 Tagen. Die Zahlen bleiben auf deinen Rechnern; Kosten sind Schätzungen der Agenten.',
    loading: 'Zahlen werden geladen…',
    missing: (machine) => `${machine} ist offline; seine Zahlen fehlen.`,
    unread: (machine) => `Die Zahlen von ${machine} sind gerade nicht lesbar.`,
    none: 'Noch keine Zahlen.',
    bars: (isCost) => (isCost ? 'Kosten nach Tagen' : 'Aufträge nach Tagen'),
    turnsOf: (count) => plural(count, { one: '# Auftrag', other: '# Aufträge' }),
    columns: { agent: 'Rechner und Agent', turns: 'Aufträge', cost: 'Kosten', tokens: 'Token' },
    agent: (agent) => capital(the(agent)),
  },
};
