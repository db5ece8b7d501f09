/** The results of the palette: sessions, machines and pages that match a text, in groups. */
import type { ReactNode } from 'react';
import { Laptop, MessageSquare, Plus, Settings } from '../ui/icons.tsx';
import { AppWindow, Keyboard } from '../ui/later-icons.tsx';
import type { Device, Session } from '@relay/protocol';
import { shortAgo, words as catalogue } from '../catalogue.ts';
import { agentName } from '../ui/agents.ts';
import { needsYou } from '../sessions/listed.ts';
import { StateGlyph, rowState } from '../sessions/state-glyph.tsx';
import { titleOf } from '../sessions/use-changes.ts';
import { devicePath, sessionPath } from '../ui/address.ts';
import { folderOf } from '../ui/folder.ts';

export interface Result {
  key: string;
  icon: ReactNode;
  name: string;
  detail?: string;
  time?: string;
  /** An address, or an action. */
  to: string | { does: 'help' } | { message: string };
}
interface ResultGroup {
  name: string;
  results: readonly Result[];
}

const recentShown = 7;
const foundShown = 8;
const excerptBefore = 24;

/** The text around the first match. */
function excerpt(text: string, words: readonly string[]): string {
  const flat = text.replaceAll(/\s+/g, ' ');
  const at = Math.min(...words.map((word) => flat.toLowerCase().indexOf(word)).map((i) => (i < 0 ? Infinity : i)));
  const from = Number.isFinite(at) ? Math.max(0, at - excerptBefore) : 0;
  return `${from > 0 ? '…' : ''}${flat.slice(from, from + 160)}`;
}

const icon = (Icon: typeof Laptop) => <Icon className="i" aria-hidden />;
const pages = (): readonly Result[] => [
  { key: 'new', icon: icon(Plus), name: catalogue.list.newSession, to: '/sessions/new' },
  { key: 'sessions', icon: icon(MessageSquare), name: catalogue.shell.sessions, to: '/sessions' },
  { key: 'machines', icon: icon(Laptop), name: catalogue.shell.machines, to: '/devices' },
  { key: 'connect', icon: icon(Plus), name: catalogue.keys.connect, to: '/devices/new' },
  { key: 'settings', icon: icon(Settings), name: catalogue.shell.settings, to: '/account' },
  { key: 'apps', icon: icon(AppWindow), name: catalogue.keys.apps, to: '/applications' },
  { key: 'help', icon: icon(Keyboard), name: catalogue.keys.help, to: { does: 'help' } },
];

interface Wanted {
  text: string;
  sessions: readonly Session[];
  devices: readonly Device[];
  nowMs: number;
}

export function resultsFor({ text, sessions, devices, nowMs }: Wanted): ResultGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (...texts: readonly (string | undefined)[]) => {
    const all = texts.join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const deviceOf = (session: Session) => devices.find(({ id }) => id === session.deviceId);
  const placeOf = (session: Session) =>
    [folderOf(session.projectPath), deviceOf(session)?.name].filter(Boolean).join(' · ');
  const bySession = (session: Session, inMessage: boolean): Result => ({
    key: `session ${session.id}`,
    icon: inMessage ? icon(MessageSquare) : <StateGlyph state={rowState(session, deviceOf(session))} />,
    name: titleOf(session),
    detail: inMessage ? excerpt(session.lastMessage, words) : placeOf(session),
    time: shortAgo(session.updatedAt, nowMs),
    to: sessionPath(session.id),
  });
  const byName = (session: Session) => has(titleOf(session), session.projectPath, deviceOf(session)?.name);
  const first = [...sessions.filter(needsYou), ...sessions.filter((session) => !needsYou(session))];
  const named = words.length === 0 ? first.slice(0, recentShown) : sessions.filter(byName).slice(0, foundShown);
  const byMessage = words.length === 0 ? [] : sessions.filter((session) => !byName(session)).slice(0, foundShown);
  const machines = devices
    .filter(({ name, agentType }) => has(name, agentType, agentName(agentType), catalogue.shell.machines))
    .slice(0, foundShown)
    .map((device): Result => ({
      key: `machine ${device.id}`,
      icon: icon(Laptop),
      name: device.name,
      detail: device.status === 'online' ? catalogue.online : catalogue.offline,
      to: devicePath(device.id),
    }));
  const actions = [
    ...pages().filter(({ name }) => has(name)),
    ...(words.length > 0
      ? [{ key: 'new with', icon: icon(Plus), name: catalogue.keys.newSessionWith(text), to: { message: text } }]
      : []),
  ];
  return [
    { name: catalogue.shell.sessions, results: named.map((session) => bySession(session, false)) },
    { name: catalogue.keys.groups.messages, results: byMessage.map((session) => bySession(session, true)) },
    { name: catalogue.shell.machines, results: machines },
    { name: catalogue.keys.groups.pages, results: actions },
  ].filter(({ results }) => results.length > 0);
}
