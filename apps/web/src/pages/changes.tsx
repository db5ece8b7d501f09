/** `/sessions/:id/changes`: the agent's changes to files, and comments on them. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { ChangeScope, FileDiff, Session } from '@relay/protocol';
import { patchOf } from '@relay/protocol/plain';
import { useLocation } from 'wouter';
import { words } from '../catalogue.ts';
import { fillComposer, messageOf, useComments } from '../changes/comments.ts';
import { DiffPane } from '../changes/diff-pane.tsx';
import { Browse, FilePane } from '../changes/file-pane.tsx';
import { Head, Menu, Notes } from '../changes/head.tsx';
import { ChevronUp, FileDiffIcon, FileIcon, FileText, RefreshCw, iconOf } from '../changes/icons.tsx';
import { Counts, List, scopesInOrder } from '../changes/list.tsx';
import { useChanges } from '../changes/use-changes.ts';
import { useRooms } from '../rooms.ts';
import { type Action, useAction } from '../ui/action.ts';
import { sessionPath, useQuery, useSessionInPath } from '../ui/address.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { useNamedDevices } from '../ui/device-list.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { ChevronDown } from '../transcript/icons.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/notice.tsx';
import { useResource } from '../ui/resource.ts';
import { useSendingKey } from '../ui/sending.ts';
import { titled } from '../sessions/attention.ts';
import '../styles/conversation.css';
import '../styles/changes.css';

export function Changes() {
  const inPath = useSessionInPath();
  const [id] = useState(inPath);
  const { client } = useRooms();
  const session = useResource<Session>(id, () => client.call('readSession', { params: { id }, query: { limit: 1 } }));
  useEffect(() => titled(words.changes.title), []);
  return (
    <main className="conv changes" id="main">
      <Loaded of={session} what={words.changes.loading}>
        {(loaded) => <Shown session={loaded} />}
      </Loaded>
    </main>
  );
}

const rememberedIn = (id: string) => `relay.scope ${id}`;

function rememberedScope(id: string): ChangeScope {
  const kept = sessionStorage.getItem(rememberedIn(id));
  return scopesInOrder.find((one) => one === kept) ?? 'uncommitted';
}

/** Switches between the changes of a file and the whole file. */
function OtherView({ isFile, onView }: { isFile: boolean; onView: (view: 'changes' | 'file') => void }) {
  return (
    <IconButton
      icon={isFile ? FileDiffIcon : FileText}
      label={isFile ? words.changes.theDiff : words.changes.wholeFile}
      onClick={() => onView(isFile ? 'changes' : 'file')}
    />
  );
}

function Shown({ session }: { session: Session }) {
  const { id } = session;
  const { client } = useRooms();
  const [, go] = useLocation();
  const turn = useQuery().get('turn') ?? undefined;
  const [scope, setScope] = useState<ChangeScope>(() => (turn === undefined ? rememberedScope(id) : 'turn'));
  const [path, setPath] = useState<string>();
  const [view, setView] = useState<'changes' | 'browse' | 'file'>('changes');
  const device = useNamedDevices().find((one) => one.id === session.deviceId);
  const agent = nameOfAgent(session.agentType, device);
  const { resource, refresh, version, isSlow } = useChanges(id, scope, scope === 'turn' ? turn : undefined);
  const { comments, add, remove, clear } = useComments(id);
  const key = useSendingKey();
  const patch = usePatch(`${id} ${scope}`);
  const compared = resource.kind === 'ready' ? resource.value : undefined;
  const files = compared?.list.files ?? [];
  const at = files.findIndex((one) => one.path === path);
  const PathIcon = files[at] ? iconOf(files[at]) : FileIcon;
  const choose = (next: ChangeScope) => {
    sessionStorage.setItem(rememberedIn(id), next);
    setScope(next);
    setPath(undefined);
  };
  const step = (by: number) => {
    const next = files[at < 0 ? 0 : at + by];
    if (next) {
      setPath(next.path);
      setView('changes');
    }
  };
  useKeys(step, () => setPath(undefined));
  const fill = async (text: string) => {
    await fillComposer(id, text);
    go(sessionPath(id));
  };
  const send = useAction(async () => {
    const content = messageOf(comments);
    // Never the answer to a question that is open.
    const body = { content, answers: null };
    await client.call('sendMessage', { params: { id }, body, idempotencyKey: key.of(content) });
    key.done();
    clear();
    go(sessionPath(id));
  });
  const mention = (line?: number) => fill(`@${path ?? ''}${line === undefined ? '' : `:${line}`} `);
  const isDetail = path !== undefined || view === 'browse';
  return (
    <>
      <header className="bar">
        <Head
          session={session}
          machine={device?.name ?? ''}
          isDetail={isDetail}
          title={path?.split('/').at(-1)}
          onBack={() => {
            setPath(undefined);
            setView('changes');
          }}
        />{' '}
        {/* prettier-ignore */}
        <IconButton icon={RefreshCw} label={words.changes.refresh} onClick={refresh} />
        <Menu
          onCommit={() => void fill(words.changes.commit)}
          onUndo={() => void fill(words.changes.undoAll)}
          onUndoFile={path === undefined ? undefined : () => void fill(words.changes.undoFile(path))}
          onSummary={() => void fill(words.changes.summary)}
          onCopy={patch.copy}
          onBrowse={() => { setPath(undefined); setView('browse'); }} // prettier-ignore
        />
      </header>
      <Notes
        compared={compared}
        agent={agent}
        machine={device?.name ?? words.list.machine}
        isWorking={session.status === 'active'}
      />
      <div className={isDetail ? 'panes detail' : 'panes'}>
        <div className="side-pane">
          <Loaded of={resource} what={isSlow ? words.changes.counting : words.changes.loading}>
            {({ list }) => (
              <List
                list={list}
                scope={scope}
                onScope={choose}
                path={path}
                onPath={(next) => { setPath(next); setView('changes'); }} // prettier-ignore
                comments={comments}
                emptyWords={
                  scope === 'uncommitted' && list.scope !== 'edits' ? words.changes.none : words.changes.noneHere
                }
              />
            )}
          </Loaded>
        </div>
        <div className="main-pane">
          {view === 'browse' && (
            <Browse
              sessionId={id}
              onFile={(next) => {
                setPath(next);
                setView('file');
              }}
            />
          )}{' '}
          {/* prettier-ignore */}
          {view !== 'browse' && path === undefined && <p className="pad soft only-wide">{words.changes.choose}</p>}
          {view !== 'browse' && path !== undefined && (
            <>
              <p className="file-bar">
                <PathIcon className="i" />
                <code className="grow cut" title={path}>
                  {path}
                </code>
                <Counts added={files[at]?.added} removed={files[at]?.removed} />
                <OtherView isFile={view === 'file'} onView={setView} />
                <IconButton
                  icon={ChevronUp}
                  label={words.changes.previous}
                  aria-disabled={at <= 0}
                  onClick={() => step(-1)}
                />
                <IconButton
                  icon={ChevronDown}
                  label={words.changes.next}
                  aria-disabled={at + 1 >= files.length}
                  onClick={() => step(1)}
                />
              </p>
              {view === 'file' ? (
                <FilePane key={path} sessionId={id} path={path} onMention={(line) => void mention(line)} />
              ) : (
                <DiffPane
                  key={`${scope} ${path}`}
                  {...{ session, scope, turn, path, version, comments, onLoaded: patch.add }}
                  compared={compared}
                  change={files[at]}
                  onAdd={add}
                  onRemove={remove}
                />
              )}
            </>
          )}
        </div>
      </div>
      {comments.length > 0 && <CommentBar count={comments.length} agent={agent} send={send} onClear={clear} />}
    </>
  );
}

/** J and K walk through the files, Escape leads back to the list. */
function useKeys(step: (by: number) => void, leave: () => void): void {
  const newest = useRef({ step, leave });
  useEffect(() => {
    newest.current = { step, leave };
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey || (target instanceof HTMLElement && target.matches('input, textarea'))) return;
      if (event.key === 'j') newest.current.step(1);
      if (event.key === 'k') newest.current.step(-1);
      if (event.key === 'Escape') newest.current.leave();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

interface CommentBarProps {
  count: number;
  agent: string;
  send: Action<[]>;
  onClear: () => void;
}

function CommentBar({ count, agent, send, onClear }: CommentBarProps) {
  return (
    <div className="comment-bar">
      <p className="grow">
        <b>{words.changes.comments(count)}</b> <span className="soft only-wide">· {words.changes.asOne(agent)}</span>
      </p>
      <Problem refusal={send.refusal} />
      <button
        type="button"
        className="ghost only-wide"
        onClick={() => window.confirm(words.changes.deleteSure) && onClear()}
      >
        {words.changes.deleteAll}
      </button>
      <button type="button" className="primary" aria-disabled={send.busy} onClick={() => void send.run()}>
        {send.busy ? words.changes.sending : words.changes.send}
      </button>
    </div>
  );
}

/** The loaded differences as one patch. Another key, such as another comparison, begins without differences. */
function usePatch(key: string) {
  const [loaded, setLoaded] = useState<{ key: string; patches: ReadonlyMap<string, string> }>();
  const add = useCallback(
    (diff: FileDiff) =>
      setLoaded((before) => ({
        key,
        patches: new Map(before?.key === key ? before.patches : []).set(diff.path, patchOf(diff)),
      })),
    [key],
  );
  const text = loaded?.key === key ? [...loaded.patches.values()].join('') : '';
  return { add, copy: text === '' ? undefined : () => void navigator.clipboard.writeText(text) };
}
