/** The list of sessions while it is empty. */
import type { ReactNode } from 'react';
import { Inbox, SearchX } from '../ui/later-icons.tsx';
import { words } from '../catalogue.ts';
import type { Filter } from './listed.ts';

interface NothingProps {
  /** Looked for; empty while nothing is. */
  search: string;
  filter: Filter;
  hasMachine: boolean;
  onClear: () => void;
}

export function Nothing({ search, filter, hasMachine, onClear }: NothingProps): ReactNode {
  const isFiltered = filter.archived || filter.status !== undefined || filter.device !== undefined;
  if (search !== '')
    return (
      <div className="empty s" role="status">
        <SearchX className="i" aria-hidden />
        <h2>{words.list.noResult}</h2>
        <p className="soft">{words.list.noResultMore(search.length > 60 ? `${search.slice(0, 60)}…` : search)}</p>
        <button type="button" className="small" onClick={onClear}>
          {words.list.clearSearch}
        </button>
      </div>
    );
  return (
    <div className="empty s" role="status">
      <Inbox className="i" aria-hidden />
      <h2>{filter.archived ? words.list.noneArchived : isFiltered ? words.list.noneLikeThis : words.list.none}</h2>
      {!isFiltered && <p className="soft">{hasMachine ? words.list.noneMore : words.list.noneYet}</p>}
    </div>
  );
}
