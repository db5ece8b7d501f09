/** `/notifications/history`: the notifications of 30 days, each with its outcome at each address, and the reason. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Delivery, NotificationList } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { Ago } from '../ui/time.tsx';

type SentNotification = NotificationList['notifications'][number];

const pageSize = 30;

export function NotificationHistory() {
  const { client } = useRooms();
  const [older, setOlder] = useState<readonly NotificationList[]>([]);
  const found = useResource('', async () => {
    const [first, { subscriptions }] = await Promise.all([
      client.call('listNotifications', { query: { limit: pageSize } }),
      client.call('listSubscriptions'),
    ]);
    return { first, labels: new Map(subscriptions.map(({ id, label }) => [id, label])) };
  });
  const more = useAction(async (cursor: string) => {
    const page = await client.call('listNotifications', { query: { limit: pageSize, cursor } });
    setOlder((before) => [...before, page]);
  });
  return (
    <Page
      title={words.notices.history}
      back={{ path: '/notifications', name: words.notices.back }}
      lead={words.notices.historyLead}
    >
      <Loaded of={found} what={words.notices.loading}>
        {({ first, labels }) => {
          const pages = [first, ...older];
          const all = pages.flatMap(({ notifications }) => notifications);
          const cursor = pages.at(-1)?.nextCursor;
          return (
            <>
              {all.length === 0 && <p role="status">{words.notices.none}</p>}
              <ul className="cards">
                {all.map((one) => (
                  <Entry key={one.id} notification={one} labels={labels} />
                ))}
              </ul>
              <Problem refusal={more.refusal} />
              {cursor !== undefined && (
                <button type="button" aria-disabled={more.busy} onClick={() => void more.run(cursor)}>
                  {words.notices.older}
                </button>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Entry({ notification, labels }: { notification: SentNotification; labels: ReadonlyMap<string, string> }) {
  const { cause, failure, name, sessionId, createdAt, deliveries = [], state } = notification;
  // A newer relay can send kinds unknown here.
  const kinds: Readonly<Record<string, string>> = words.notices.kinds;
  return (
    <li className="card">
      <span className="card-head">
        <span className="card-title">
          {kinds[failure ?? cause] ?? kinds[cause] ?? words.notices.another}
          {name !== undefined && `: ${name}`}
        </span>
        <span className="card-facts">
          <Ago at={createdAt} />
        </span>
      </span>
      {state === 'unaddressed' && <span className="card-facts">{words.notices.unaddressed}</span>}
      {deliveries.length > 0 && (
        <ul className="outcomes">
          {deliveries.map((one) => (
            <Outcome key={one.id} delivery={one} label={labels.get(one.subscriptionId) ?? words.notices.removed} />
          ))}
        </ul>
      )}
      {sessionId !== '' && <Link href={`/sessions/${encodeURIComponent(sessionId)}`}>{words.notices.openSession}</Link>}
    </li>
  );
}

const classOf = ({ state }: Delivery) => {
  if (state === 'accepted') return 'chip good';
  return state === 'failed' || state === 'gone' || state === 'unknown' ? 'chip warn' : 'chip';
};

function Outcome({ delivery, label }: { delivery: Delivery; label: string }) {
  const { state, reason, sentWith, maybeDuplicate } = delivery;
  const states: Readonly<Record<string, string>> = words.notices.states;
  return (
    <li>
      <span className={classOf(delivery)}>{states[state] ?? state}</span>
      <span>
        <b>{label}</b>
        {sentWith !== undefined && ` ${words.notices.inDigest}`}
        {sentWith === undefined && reason !== undefined && ` ${words.here.reason(reason)}`}
        {maybeDuplicate && ` ${words.notices.twice}`}
      </span>
    </li>
  );
}
