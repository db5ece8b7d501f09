/** The start page of a wide screen while something waits: all of it, the oldest question first. */
import type { InboxItem } from '@relay/protocol';
import { number, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { ItemCard, QuestionItem, nameOf } from './items.tsx';
import { useInbox } from './use-inbox.ts';

const oldestFirst = (items: readonly InboxItem[]) => [...items].reverse();

export function Waiting() {
  const { inbox } = useRooms();
  const { items, snoozed, counts } = useInbox();
  const of = (...kinds: InboxItem['kind'][]) => items.filter(({ kind }) => kinds.includes(kind));
  const others = of('failure', 'unknown', 'device');
  const finished = of('finished');
  return (
    <div className="inbox" data-version={inbox.state.version}>
      <header>
        <h2>{words.list.needsYou}</h2>
        {counts.badge > 0 && <span className="n">{number(counts.badge)}</span>}
      </header>
      <ul>
        {oldestFirst(of('question')).map((item) => (
          <QuestionItem key={item.id} item={item} />
        ))}
        {others.map((item) => (
          <ItemCard key={item.id} item={item} />
        ))}
      </ul>
      {finished.length > 0 && (
        <section>
          <h3>{words.inbox.finished}</h3>
          <ul>
            {finished.map((item) => (
              <ItemCard key={item.id} item={item} />
            ))}
          </ul>
        </section>
      )}
      {items.length < counts.total && <p className="faint">{words.inbox.more(counts.total - items.length)}</p>}
      {snoozed.length > 0 && (
        <details>
          <summary>{words.inbox.snoozed(counts.snoozed)}</summary>
          <ul>
            {snoozed.map((item) => (
              <li key={item.id} className="hidden-item">
                <span className="cut">{nameOf(item)}</span>
                <button
                  type="button"
                  className="small"
                  onClick={() => void inbox.snooze(item.id, null).catch(() => undefined)}
                >
                  {words.inbox.showNow}
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
