/**
 * Publishes the inbox of a person after a change (rules, 14.18): at most four times a second over all instances, each
 * time from one statement that reads head, counts and changes of one snapshot.
 */
import { type InboxCounts, type InboxItem, encodeUserFrame, inboxLimits } from '@relay/protocol';
import type { UserChannel } from './publisher.ts';

/** Head, counts and changes since `published`. */
interface InboxNews {
  version: number;
  published: number;
  counts: InboxCounts;
  changed: InboxItem[];
  removed: string[];
  more: boolean;
}

interface InboxPublisherDeps {
  channel: Pick<UserChannel, 'appendNewest' | 'once'>;
  readNews: (userId: string) => Promise<InboxNews>;
  markPublished: (userId: string, version: number) => Promise<void>;
  /** The person has more than `inboxLimits.open` items: closes the oldest. */
  trim: (userId: string) => Promise<void>;
  onError: (error: unknown) => void;
  /** Is called after each publication, with the seconds that it took to read and to publish. */
  onPublished?: (seconds: number) => void;
}

interface InboxPublisher {
  /** The inboxes of these people might have changed. Never throws and never waits. */
  raised(userIds: readonly string[]): void;
  /** Stops publishing. Resolves when no publication is running; another instance publishes the rest. */
  stop(): Promise<void>;
}

/** Between two publications for one person. */
const pauseMs = 250;
/** Size limit of the items in a frame: questions can be long, and a frame stays small. */
const changedCharacters = 16 * 1024;
/** Longer than any instance holds a snapshot before it publishes it. */
const newestMs = 60_000;

/** As much of the change as fits a frame; `more` is set if items are missing. */
function inboxFrame({ version, counts, changed, removed, more }: InboxNews): string {
  const isLarge = JSON.stringify(changed).length > changedCharacters;
  const frame = { type: 'inbox_update', version, counts, changed: isLarge ? [] : changed, removed };
  return JSON.stringify(isLarge || more ? { ...frame, more: true } : frame);
}

export function createInboxPublisher(deps: InboxPublisherDeps): InboxPublisher {
  const { channel, onError } = deps;
  /** People whose publication is running; true: the inbox changed again during it. */
  const people = new Map<string, boolean>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  const pause = () =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        stopping.signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, pauseMs);
      timer.unref();
      stopping.signal.addEventListener('abort', end);
    });

  const publish = async (userId: string) => {
    const startedAt = performance.now();
    const news = await deps.readNews(userId);
    if (news.version <= news.published) return;
    const state = { key: 'inbox', version: news.version, ttlMs: newestMs };
    await channel.appendNewest(userId, encodeUserFrame('x', inboxFrame(news)), state);
    await deps.markPublished(userId, news.version);
    deps.onPublished?.((performance.now() - startedAt) / 1000);
    if (news.counts.total + news.counts.snoozed > inboxLimits.open) await deps.trim(userId);
  };

  const run = async (userId: string) => {
    do {
      // Another instance has just published: publish the changes that it missed after the pause.
      while (!stopping.signal.aborted && !(await channel.once('inbox', [userId], pauseMs))) await pause();
      if (stopping.signal.aborted) break;
      people.set(userId, false);
      await publish(userId);
    } while (people.get(userId) === true);
  };

  return {
    raised: (userIds) => {
      for (const userId of userIds) {
        if (stopping.signal.aborted) return;
        if (people.has(userId)) {
          people.set(userId, true);
          continue;
        }
        people.set(userId, false);
        const work = run(userId)
          .catch(onError)
          .finally(() => {
            people.delete(userId);
            running.delete(work);
          });
        running.add(work);
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
