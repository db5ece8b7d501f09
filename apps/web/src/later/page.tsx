/** `/later`: the messages of all sessions whose time has not come. */
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { sessionPath } from '../ui/address.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { LaterItem } from './item.tsx';
import '../styles/later.css';

export function Later() {
  const { client } = useRooms();
  const found = useResource('', async () => (await client.call('listLater')).tasks);
  return (
    <Page title={words.later.title} back={{ path: '/account', name: words.shell.settings }} lead={words.later.lead}>
      <Loaded of={found} what={words.later.loading}>
        {(tasks) =>
          tasks.length === 0 ? (
            <p role="status">{words.later.none}</p>
          ) : (
            <ul className="later-list" aria-label={words.later.title}>
              {tasks.map(({ sessionId, title, ...task }) => (
                <li key={task.taskId}>
                  <ul className="queue">
                    <LaterItem sessionId={sessionId} task={task} onChanged={found.reload} />
                  </ul>
                  <Link href={sessionPath(sessionId)} className="fine">
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}
