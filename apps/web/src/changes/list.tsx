/** The files that differ: name, folder, numbers; files that cannot be shown come last. */
import type { Change, ChangeList, ChangeScope } from '@relay/protocol';
import { timeOf, words } from '../catalogue.ts';
import { MessageSquare } from '../ui/icons.tsx';
import type { Comment } from './comments.ts';
import { GitBranch, iconOf } from './icons.tsx';

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Five squares, in the proportion of added and removed lines; both have at least one. */
function Squares({ added, removed }: { added: number; removed: number }) {
  const all = added + removed;
  if (all === 0) return null;
  const shown = Math.min(5, all);
  const plus =
    added === 0 ? 0 : removed === 0 ? shown : Math.min(shown - 1, Math.max(1, Math.round((added / all) * shown)));
  return (
    <span className="squares" aria-hidden="true">
      {[0, 1, 2, 3, 4].map((at) => (
        <i key={at} className={at < plus ? 'ad' : at < shown ? 'de' : ''} />
      ))}
    </span>
  );
}

export function Counts({ added = 0, removed = 0 }: { added?: number | undefined; removed?: number | undefined }) {
  return (
    <>
      {added > 0 && (
        <span className="plus num">
          +{added} <span className="sr">{words.changes.added}</span>
        </span>
      )}
      {removed > 0 && (
        <span className="minus num">
          −{removed} <span className="sr">{words.changes.removed}</span>
        </span>
      )}
    </>
  );
}

/** The facts beside the name of a file. */
function Facts({ change }: { change: Change }) {
  const { added, removed, binary, lfs, was, bytes, hidden } = change;
  if (hidden !== undefined) return <span className="soft">{words.changes.kind(change.change)}</span>;
  if (lfs) return <span className="soft">{words.changes.lfs}</span>;
  if (binary)
    return (
      <span className="soft">
        {change.change === 'edit' ? words.changes.binary : words.changes.kind(change.change)}{' '}
        {words.changes.sizes(was, bytes)}
      </span>
    );
  if (!added && !removed) return <span className="soft">{words.changes.kind(change.change)}</span>;
  return (
    <>
      <span className="sr">{words.changes.kind(change.change)}</span>
      <Counts added={added} removed={removed} />
      <Squares added={added ?? 0} removed={removed ?? 0} />
    </>
  );
}

interface ListProps {
  list: ChangeList;
  scope: ChangeScope;
  onScope: (scope: ChangeScope) => void;
  path: string | undefined;
  onPath: (path: string) => void;
  comments: readonly Comment[];
  emptyWords: string;
}

export const scopesInOrder: readonly ChangeScope[] = ['uncommitted', 'session', 'turn', 'edits'];

export function List({ list, scope, onScope, path, onPath, comments, emptyWords }: ListProps) {
  const scopes = scopesInOrder.filter(
    (one) => list.scopes.includes(one) && (one !== 'edits' || list.scopes.length === 1),
  );
  const [shown, hidden] = [
    list.files.filter((one) => one.hidden !== 'secret'),
    list.files.filter((one) => one.hidden === 'secret'),
  ];
  const row = (change: Change) => {
    const count = comments.filter((one) => one.path === change.path).length;
    const Icon = iconOf(change);
    const where = change.from === undefined ? folderOf(change.path) : words.changes.from(nameOf(change.from));
    return (
      <li key={change.path}>
        <button
          type="button"
          className="ghost"
          aria-current={change.path === path || undefined}
          title={change.path}
          onClick={() => onPath(change.path)}
        >
          <Icon className="i" />
          <span className="grow">
            <b className="cut">{nameOf(change.path)}</b>
            <code className="cut soft">{change.hidden === 'secret' ? words.changes.secret : where}</code>
          </span>
          {count > 0 && (
            <span className="count num">
              <MessageSquare className="i" /> {count}
              <span className="sr"> {words.changes.comment}</span>
            </span>
          )}
          <Facts change={change} />
        </button>
      </li>
    );
  };
  return (
    <div className="change-list">
      {scopes.length > 1 && (
        <div className="segments" role="group" aria-label={words.changes.compare}>
          {scopes.map((one) => (
            <button key={one} type="button" aria-pressed={one === scope} onClick={() => onScope(one)}>
              {words.changes.scopes[one]}
            </button>
          ))}
        </div>
      )}
      <p className="soft sum">
        {list.scope !== 'edits' && <GitBranch className="i" />}
        <span className="grow cut">
          {list.scope !== 'edits' && (list.branch ?? words.changes.noBranch)}
          {list.since !== undefined &&
            ` · ${(list.about ? words.changes.sinceAbout : words.changes.since)(timeOf(list.since))}`}
        </span>
        <span className="num">{words.changes.files(list.count ?? list.files.length)}</span>
        <Counts added={list.added} removed={list.removed} />
      </p>
      {list.files.length === 0 && (
        <p className="pad soft">
          {emptyWords}{' '}
          {scope === 'uncommitted' && list.scopes.includes('session') && (
            <button type="button" className="small" onClick={() => onScope('session')}>
              {words.changes.wholeSession}
            </button>
          )}
        </p>
      )}
      <ul className="files">{shown.map(row)}</ul>
      {hidden.length > 0 && (
        <>
          <h2 className="label">{words.changes.notShown}</h2>
          <ul className="files">{hidden.map(row)}</ul>
        </>
      )}
      {(list.count ?? 0) > list.files.length && (
        <p className="pad soft">{words.changes.more(list.files.length, list.count ?? 0)}</p>
      )}
    </div>
  );
}
