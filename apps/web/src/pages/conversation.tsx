/** `/sessions/:id`: a conversation, live. */
import { type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef } from 'react';
import { ChevronLeft } from '../ui/icons.tsx';
import type { Message, Prompt, Session } from '@relay/protocol';
import { Link, useLocation } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { words } from '../catalogue.ts';
import { Activity } from '../conversation/activity.tsx';
import { Composer } from '../conversation/composer.tsx';
import { Head } from '../conversation/head.tsx';
import { useQueue } from '../conversation/queue.tsx';
import { useSeen } from '../inbox/use-inbox.ts';
import { useFocus, useReadMark } from '../conversation/view-reports.ts';
import { type LoadedConversation, useConversation } from '../conversation/use-conversation.ts';
import { useRetry } from '../conversation/use-retry.ts';
import { sessionPath, useLastSegment } from '../ui/address.ts';
import { distinct, useDevices } from '../ui/device-list.ts';
import { useKeptFocus } from '../ui/kept-focus.ts';
import { loadedLater } from '../ui/loaded-later.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page, WayOn } from '../ui/page.tsx';
import type { KeptConversation } from '../offline/last.ts';
import { titled } from '../sessions/attention.ts';
import { RetryContext } from '../transcript/item-view.tsx';
import { Log, type LogHandle } from '../transcript/log.tsx';
import { DiffScreens } from '../transcript/parts/diff-screen.tsx';
import { useItems } from '../transcript/use-items.ts';
import { withoutQuestions } from '../conversation/prompt.ts';
import '../styles/conversation.css';

const Unread = loadedLater(async () => (await import('../conversation/unread.tsx')).Unread);

export function Conversation() {
  const inAddress = useLastSegment();
  /** The id that the page began with; when the agent names the session, the address follows and the page stays. */
  const began = useRef(inAddress);
  const names = useRef(new Set([inAddress]));
  if (!names.current.has(inAddress)) {
    began.current = inAddress;
    names.current = new Set([inAddress]);
  }
  return <One key={began.current} id={began.current} onName={(id) => names.current.add(id)} />;
}

function One({ id, onName }: { id: string; onName: (id: string) => void }) {
  const first = useHistoryState<{ first?: Message } | null>()?.first;
  const conversation = useConversation(id, first);
  const { resource } = conversation;
  const [, navigate] = useLocation();
  const canonical = resource.kind === 'ready' ? resource.value.session.id : undefined;
  useEffect(() => {
    if (canonical === undefined || canonical === id) return;
    onName(canonical);
    navigate(sessionPath(canonical), { replace: true });
  }, [canonical, id, onName, navigate]);

  const refusal = resource.kind === 'failed' ? resource.refusal : undefined;
  const isNone = refusal?.code === 'SESSION_NOT_FOUND';
  if (isNone || (resource.kind === 'ready' && resource.value.isRemoved))
    return (
      <Page title={words.session} key="gone">
        {isNone ? <Problem refusal={refusal} /> : <Notice>{words.gone}</Notice>}
        <WayOn path="/sessions">{words.allSessions}</WayOn>
      </Page>
    );
  if (resource.kind !== 'ready')
    return (
      <Page title={words.session} key="none" back={{ path: '/sessions', name: words.allSessions }}>
        <Loaded of={resource} what={words.loading}>
          {() => null}
        </Loaded>
      </Page>
    );
  return (
    <Shown
      data={resource.value}
      onMessage={conversation.add}
      onChange={conversation.edit}
      onOlder={conversation.loadOlder}
      onReload={resource.reload}
    />
  );
}

const noPrompts: readonly Prompt[] = [];
const noMore = () => Promise.resolve(false);
const nothing = () => undefined;
/** As long after an answer that the machine is away. */
const askAgainMs = 3000;

/** A conversation as it was last read, while the relay can't be reached: read-only. `children` explain that. */
export function LastLog({
  kept: { session, messages, areItems },
  children,
}: {
  kept: KeptConversation;
  children: ReactNode;
}) {
  const { items, texts } = useItems({ session, messages, output: areItems ? undefined : '' });
  const title = session.title || words.untitled;
  useEffect(() => titled(title), [title]);
  return (
    <main className="conv" id="main">
      <header className="bar">
        <Link href="/sessions" className="button ghost icon" aria-label={words.allSessions}>
          <ChevronLeft className="i" aria-hidden />
        </Link>
        <h1 className="name cut grow">{title}</h1>
      </header>
      {children}
      <Log sessionId={session.id} items={items} texts={texts} hasMore={false} onOlder={noMore} onSeen={nothing} />
    </main>
  );
}

interface ShownProps {
  data: LoadedConversation;
  onMessage: (message: Message) => void;
  onChange: (session: Session) => void;
  onOlder: () => Promise<void>;
  onReload: () => void;
}

function Shown({ data, onMessage, onChange, onOlder, onReload }: ShownProps) {
  const { session, messages, hasMore, messagesError, output } = data;
  const devices = useDevices();
  const device =
    devices.kind === 'ready' ? distinct(devices.value).find(({ id }) => id === session.deviceId) : undefined;
  const isAway = messagesError?.code === 'DEVICE_OFFLINE';
  // No frame announces a machine that returns before the relay reported it offline.
  const mayBeBack = isAway && device?.status === 'online';
  useEffect(() => {
    if (!mayBeBack) return undefined;
    const timer = setTimeout(onReload, askAgainMs);
    return () => clearTimeout(timer);
  }, [mayBeBack, messagesError, onReload]);
  const queue = useQueue(session);
  const { outside } = queue;
  // Open questions are in their card above the composer.
  const { prompt, prompts = prompt ? [prompt] : noPrompts } = session;
  const shownMessages = useMemo(() => withoutQuestions(outside(messages), prompts), [outside, messages, prompts]);
  const { items, texts } = useItems({ session, messages: shownMessages, output: data.items ? undefined : output });
  const log = useRef<LogHandle>(null);
  const newestOlder = useRef(onOlder);
  useEffect(() => {
    newestOlder.current = onOlder;
  });
  const older = useCallback(() => newestOlder.current(), []);
  const addSent = (message: Message) => {
    onMessage(message);
    log.current?.toEnd();
  };

  const main = useRef<HTMLElement>(null);
  // Never into the composer: the rest of a word and Enter would be sent.
  useKeptFocus(main, (root) => root.querySelector<HTMLElement>('.queue button') ?? root.querySelector('h1'));
  const onSeen = useReadMark(session);
  useFocus(session.id);
  useSeen(session.id);
  const newest = items.at(-1);
  const lastSent = messages.findLast(({ role }) => role === 'USER');
  const isErrorShown = newest?.part.kind === 'error';
  const [retry, refusal] = useRetry(session, shownMessages, isErrorShown ? newest : undefined, addSent);
  return (
    <DiffScreens>
      <main className="conv" id="main" ref={main} data-status={session.status}>
        <Head session={session} device={device} isAway={isAway} onChange={onChange} />
        <RetryContext value={retry}>
          <Log
            ref={log}
            sessionId={session.id}
            items={items}
            texts={texts}
            hasMore={hasMore && messages.length > 0}
            onOlder={older}
            onSeen={onSeen}
          />
        </RetryContext>
        <div className="dock">
          <div className="in-lane">
            {messagesError && messagesError.code !== 'SESSION_NOT_RESOLVED' && (
              <Suspense>
                <Unread why={messagesError} asOf={data.asOf} device={device} onReload={onReload} />
              </Suspense>
            )}
            <Problem refusal={refusal} />
            <Activity
              session={session}
              sentAt={lastSent?.timestamp}
              device={device}
              items={items}
              isErrorShown={isErrorShown}
            />
          </div>
          <Composer session={session} queue={queue} messages={messages} device={device} onMessage={addSent} />
        </div>
      </main>
    </DiffScreens>
  );
}
