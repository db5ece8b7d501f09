/**
 * An app that keeps a copy of every transcript that it receives: it loses frames, reconnects to any api, and requests
 * missing parts.
 */
import { TranscriptCopy, type TranscriptFrame } from '@relay/client';
import { type Cluster, type TestApp, connectApp } from '@relay/testing';
import type { Chance } from './chance.ts';
import { lasting } from './until.ts';

export interface TranscriptReader {
  /** Keyed by session. */
  readonly copies: ReadonlyMap<string, TranscriptCopy>;
  readonly counts: { heard: number; lost: number; asked: number; cut: number };
  /** From now on, it no longer drops frames itself. */
  behave(): void;
  /** Cuts its socket. */
  cut(): void;
  stop(): Promise<void>;
}

interface Frame extends TranscriptFrame {
  type: string;
  sessionId: string;
  message?: { uuid: string; content: string };
}

export function startTranscriptReader(cluster: Cluster, chance: Chance): TranscriptReader {
  const copies = new Map<string, TranscriptCopy>();
  const counts = { heard: 0, lost: 0, asked: 0, cut: 0 };
  const asking = new Map<string, Promise<void>>();
  let app: TestApp | undefined;
  let isCareless = true;
  let isStopped = false;
  const api = () => chance.below(cluster.apis.length);

  const ask = async (sessionId: string, copy: TranscriptCopy) => {
    while (copy.isBehind && !isStopped) {
      await lasting(chance.below(100));
      counts.asked += 1;
      try {
        const query = { parts: '1', limit: 200, changed: copy.v } as const;
        const { status, body } = await cluster.call('readMessages', { api: api(), params: { id: sessionId }, query });
        if (status === 200) copy.take(body);
      } catch {
        // That api is down: the next attempt might pick another.
      }
    }
  };
  const catchUp = (sessionId: string, copy: TranscriptCopy) => {
    if (!copy.isBehind || asking.has(sessionId)) return;
    const done = ask(sessionId, copy).finally(() => asking.delete(sessionId));
    asking.set(sessionId, done);
  };

  const doubtAll = () => {
    for (const [sessionId, copy] of copies) {
      copy.doubt();
      catchUp(sessionId, copy);
    }
  };

  const hear = (frame: Frame) => {
    const { type, sessionId, message } = frame;
    if (type === 'resync') return doubtAll();
    if (type !== 'transcript' && type !== 'new_message') return;
    if (isCareless && chance.below(6) === 0) return void (counts.lost += 1);
    const copy = copies.get(sessionId) ?? new TranscriptCopy();
    copies.set(sessionId, copy);
    counts.heard += 1;
    if (type === 'transcript') copy.apply(frame);
    else if (message && copy.get(message.uuid)?.content !== message.content) copy.doubt();
    catchUp(sessionId, copy);
  };

  const live = async () => {
    while (!isStopped) {
      try {
        app = await connectApp(cluster, { api: api(), since: '', transcript: true });
        app.socket.on('message', (data: Buffer) => hear(JSON.parse(data.toString('utf8')) as Frame));
        doubtAll();
        await app.closed;
      } catch {
        await lasting(100);
      }
    }
  };
  const ended = live();

  return {
    copies,
    counts,
    behave: () => void (isCareless = false),
    cut() {
      counts.cut += 1;
      app?.socket.terminate();
    },
    async stop() {
      isStopped = true;
      app?.socket.terminate();
      await ended;
      await Promise.all(asking.values());
    },
  };
}
