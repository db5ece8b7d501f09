/** `/activity`: actions in the name of the person, newest first (rules, 8.20). */
import { useState } from 'react';
import type { AuditEntry, AuditPage } from '@relay/protocol';
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { together } from './audit-cards.ts';
import { useSharedLists } from '../sessions/shared-lists.ts';
import { devicePath, sessionPath } from '../ui/address.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { Ago } from '../ui/time.tsx';

const pageSize = 50;

export function Activity() {
  const { client } = useRooms();
  const [older, setOlder] = useState<readonly AuditPage[]>([]);
  const first = useResource('', () => client.call('listAudit', { query: { limit: pageSize } }));
  const more = useAction(async (cursor: string) => {
    const page = await client.call('listAudit', { query: { limit: pageSize, cursor } });
    setOlder((before) => [...before, page]);
  });
  return (
    <Page
      title={words.activity.title}
      back={{ path: '/account', name: words.shell.settings }}
      lead={words.activity.lead}
    >
      <Loaded of={first} what={words.activity.loading}>
        {(newest) => {
          const pages = [newest, ...older];
          const entries = pages.flatMap((page) => page.entries);
          const cursor = pages.at(-1)?.nextCursor;
          return (
            <>
              {entries.length === 0 && <p role="status">{words.activity.none}</p>}
              <ul className="cards">
                {together(entries).map(({ entry, count }) => (
                  <Entry key={entry.id} entry={entry} count={count} />
                ))}
              </ul>
              <Problem refusal={more.refusal} />
              {cursor !== undefined && (
                <button type="button" aria-disabled={more.busy} onClick={() => void more.run(cursor)}>
                  {words.activity.older}
                </button>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

/** The session or the machine that something was done to; null if this page does not know it. */
function useTarget(id: string | undefined) {
  const { sessions, devices } = useSharedLists();
  if (id === undefined) return null;
  const session = sessions.find((one) => one.id === id);
  const device = devices.find((one) => one.id === (session?.deviceId ?? id));
  if (session)
    return (
      <span>
        <Link href={sessionPath(session.id)}>{session.title || words.untitled}</Link>
        {device && ` · ${device.name}`}
      </span>
    );
  return device ? <Link href={devicePath(id)}>{device.name}</Link> : null;
}

function Entry({ entry, count }: { entry: AuditEntry; count: number }) {
  const { action, at, outcome, times = 1, program, address, target } = entry;
  const actions: Readonly<Record<string, string>> = words.activity.actions;
  const programs: Readonly<Record<string, string>> = words.activity.programs;
  const reasons: Readonly<Record<string, string>> = words.errors.byCode;
  const about = useTarget(target);
  const from = [program && (programs[program] ?? program), address].filter(Boolean).join(' · ');
  return (
    <li className="card">
      <span className="card-head">
        <span className="card-title">{actions[action] ?? action}</span>
        <span className="card-facts">
          {count > 1 && <span>{words.activity.times(count)}</span>}
          <Ago at={at} />
        </span>
      </span>
      <span className="card-facts">
        {outcome !== 'done' && <span className="chip warn">{words.activity.refused(times)}</span>}
        {outcome !== 'done' && <span>{reasons[outcome] ?? outcome}</span>}
        {about && <span>{about}</span>}
        {from !== '' && <span>{from}</span>}
      </span>
    </li>
  );
}
