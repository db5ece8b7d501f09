/** `/sessions/:id`: a conversation, live. */
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { Message, Session } from '@relay/protocol';
import { Link, useLocation } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { sentenceFor } from '../api/words.ts';
import { Activity } from '../conversation/activity.tsx';
import { Composer } from '../conversation/composer.tsx';
import { Head } from '../conversation/head.tsx';
import { MessageView } from '../conversation/message-view.tsx';
import { type Conversation as Known, useConversation } from '../conversation/use-conversation.ts';
import { useAction } from '../ui/action.ts';
import { sessionPath, useLastSegment } from '../ui/address.ts';
import { useDevices } from '../ui/device-list.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { SessionState } from '../ui/status.tsx';

export function Conversation() {
  const inAddress = useLastSegment();
  /** The id with which the page began; when the agent names the session, the address follows and the page stays. */
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

  if (resource.kind !== 'ready')
    return (
      <Page title="Session" key="none">
        <Loaded of={resource} what="Loading the conversation …">
          {() => null}
        </Loaded>
      </Page>
    );
  if (resource.value.removed)
    return (
      <Page title="Session" key="gone">
        <Notice>This session was removed.</Notice>
        <p>
          <Link href="/sessions" className="button">
            To your sessions
          </Link>
        </p>
      </Page>
    );
  return (
    <Shown
      known={resource.value}
      onSaid={conversation.said}
      onChange={conversation.changed}
      onOlder={conversation.loadOlder}
      onReload={resource.reload}
    />
  );
}

interface ShownProps {
  known: Known;
  onSaid: (message: Message) => void;
  onChange: (session: Session) => void;
  onOlder: () => Promise<void>;
  onReload: () => void;
}

function Shown({ known, onSaid, onChange, onOlder, onReload }: ShownProps) {
  const { session, messages, hasMore, messagesError, output } = known;
  const devices = useDevices();
  const device = devices.kind === 'ready' ? devices.value.find(({ id }) => id === session.deviceId) : undefined;
  const older = useAction(onOlder);
  const end = useEndInSight(`${messages.at(-1)?.uuid ?? ''} ${output.length} ${session.status}`);
  return (
    <Page title={session.title === '' ? 'Untitled' : session.title} aside={<SessionState status={session.status} />}>
      <Head session={session} device={device} onChange={onChange} />
      {hasMore && messages.length > 0 && (
        <p className="older">
          <button type="button" aria-disabled={older.busy} onClick={() => void older.run()}>
            {older.busy ? 'Loading …' : 'Earlier messages'}
          </button>
        </p>
      )}
      <Problem refusal={older.refusal} />
      {messagesError && messagesError.code !== 'SESSION_NOT_RESOLVED' && (
        <Notice>
          <p>
            The conversation is on {device?.name ?? 'the machine'} and cannot be read right now.{' '}
            {sentenceFor({ code: messagesError.code, message: messagesError.error, retryAfterSeconds: undefined })}
          </p>
          <button type="button" onClick={onReload}>
            Try again
          </button>
        </Notice>
      )}
      <div role="log" aria-label="Conversation" className="messages">
        {messages.map((message) => (
          <MessageView key={message.uuid} message={message} />
        ))}
      </div>
      <Activity session={session} device={device} output={output} />
      <Composer session={session} messages={messages} device={device} onSaid={onSaid} />
      <div ref={end} />
    </Page>
  );
}

/** Keeps the end in sight for whoever is there; whoever reads above is left alone. */
function useEndInSight(change: string) {
  const end = useRef<HTMLDivElement>(null);
  const wasThere = useRef(true);
  useEffect(() => {
    const look = () => {
      const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
      wasThere.current = scrollHeight - clientHeight - scrollTop < 120;
    };
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  }, []);
  useLayoutEffect(() => {
    if (wasThere.current) end.current?.scrollIntoView({ block: 'end', behavior: 'instant' });
  }, [change]);
  return end;
}
