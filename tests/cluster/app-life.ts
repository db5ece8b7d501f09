/** An app that follows the frames of its user over any number of connections: it resumes from its last offset. */
import type { Chance } from './chance.ts';
import { type Doors, codeOf } from './doors.ts';
import { type Journal, type Line, readLine, strangersIn, wordsIn } from './journal.ts';
import { startLivingSocket } from './living-socket.ts';

export interface AppLife {
  readonly app: number;
  /** Whether the app has received this line. */
  heard(line: Pick<Line, 'connection' | 'number'>): boolean;
  drop(): void;
  stop(): Promise<void>;
}

export interface AppLifeOptions {
  user: string;
  token: string;
  doors: Doors;
  journal: Journal;
  chance: Chance;
  silenceMs: number;
}

interface Frame {
  type: string;
  offset?: string;
  message?: { content: string };
}

export function startAppLife({ user, token, doors, journal, chance, silenceMs }: AppLifeOptions): AppLife {
  const app = journal.number('app');
  const lines = new Set<string>();
  let since = '';
  const living = startLivingSocket({
    address: () => ({
      url: `${doors.api().replace(/^http/, 'ws')}/ws/attention?since=${encodeURIComponent(since)}&events=output`,
      ca: doors.ca,
      headers: { Authorization: `Bearer ${token}` },
    }),
    onOpen: () => journal.note({ what: 'listening', user, app, since }),
    onText: (text) => {
      const frame = JSON.parse(text) as Frame;
      if (frame.type === 'resync') {
        journal.note({ what: 'resync', user, app });
        return;
      }
      if (frame.offset) since = frame.offset;
      if (frame.type === 'new_message')
        for (const words of wordsIn(frame.message?.content ?? '')) journal.note({ what: 'shown', user, app, words });
      const line = frame.type === 'new_message' ? readLine(frame.message?.content ?? '') : undefined;
      if (line) lines.add(`${line.connection}#${line.number}`);
      const strangers = strangersIn(text, user);
      journal.note({ what: 'heard', user, app, frame: frame.type, offset: frame.offset ?? '', line, strangers });
    },
    onClose: (code) => journal.note({ what: 'deaf', user, app, code }),
    onRefused: (status, body) => journal.note({ what: 'refused', who: 'app', user, status, code: codeOf(body) }),
    silenceMs,
    pauseMs: () => chance.between(20, 300),
  });
  return {
    app,
    heard: ({ connection, number }) => lines.has(`${connection}#${number}`),
    drop: () => living.drop(),
    stop: () => living.stop(),
  };
}
