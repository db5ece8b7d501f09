/** The composer: a message, or the answer to a question of the agent. */
import { type KeyboardEvent, Suspense, useRef, useState } from 'react';
import { ArrowUp } from '../transcript/icons.tsx';
import { Plus } from '../ui/icons.tsx';
import type { Device, Message, Session } from '@relay/protocol';
import { Link } from 'wouter';
import { loadWords, words } from '../catalogue.ts';
import { newSessionPath } from '../ui/address.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { useRooms } from '../rooms.ts';
import { FileDoor, useInlet } from '../files/door.tsx';
import type { Attached } from './attached.ts';
import { AttachedImages, ImageInput, useImages } from './images.tsx';
import { isWorking } from './activity.tsx';
import { Desk } from '../desk/door.tsx';
import { QuestionCard } from './question-card.tsx';
import { LaterPart } from './later-part.tsx';
import { Queue } from './queue.tsx';
import type { MessageQueue } from './waiting.ts';
import { StopButton } from './stop-button.tsx';
import { idToday, useDraft } from './use-draft.ts';
import { useSending } from './use-sending.ts';
import { submitting, useAction } from '../ui/action.ts';
import { holding } from '../ui/holding.ts';
import { isComposing } from '../ui/composing.ts';
import { loadedLater } from '../ui/loaded-later.tsx';
import { Notice, Problem } from '../ui/notice.tsx';

const Commands = loadedLater(async () => (await import('./commands.tsx')).default);
const Controls = loadedLater(
  async () => (await Promise.all([import('./composer-controls.tsx'), loadWords('controls')]))[0].default,
);

const UsageRing = loadedLater(async () => (await import('../usage/load.ts')).ring());
const SendButtons = loadedLater(
  async () => (await Promise.all([import('../steering/buttons.tsx'), loadWords('steer')]))[0].SendButtons,
);

interface ComposerProps {
  session: Session;
  /** The queued messages. */
  queue: MessageQueue;
  messages: readonly Message[];
  device: Device | undefined;
  onMessage: (message: Message) => void;
}

export function Composer(props: ComposerProps) {
  const { session, queue, device } = props;
  const { client } = useRooms();
  const [text, setText] = useDraft(session.id, '', idToday(client));
  const field = useRef<HTMLTextAreaElement>(null);
  const focus = () => field.current?.focus();
  const images = useImages();
  const { files, takes, takesFiles, drop, paste } = useInlet(device, images);
  const prompts = session.prompts ?? (session.prompt ? [session.prompt] : []);
  /** The id of the question that is shown; without it, the oldest. */
  const [shown, setShown] = useState<string>();
  const at = Math.max(0, prompts.findIndex(({ id }) => id === shown)); // prettier-ignore
  const prompt = prompts[at];
  const onSent = (content: string, those: readonly Attached[]) => {
    images.sent(those);
    setText((now) => (now === content ? '' : now));
  };
  const attached = takes ? images.all : [];
  const [send, isLater, onEdit] = useSending(props, prompts, text, attached, onSent, files);
  const [isTiming, setTiming] = useState(false);
  const atTime = () => text.trim() !== '' && attached.length === 0 && setTiming(true);
  const [isAsking, setAsking] = useState(false);
  const submit = submitting(
    () => text.trim() !== '' && (session.held && !prompt ? setAsking(true) : void send.run(prompt, text, attached)),
  );
  // On a keyboard Enter sends; on glass it makes a new line.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return;
    if (!event.ctrlKey && !event.metaKey && window.matchMedia('(pointer: coarse)').matches) return;
    submit(event);
  };
  const complete = (command: string) => {
    setText(command);
    focus();
  };
  const isRunning = session.runningSince !== undefined || prompt !== undefined;
  const cancel = useAction((which: 'running' | 'all' = 'running') =>
    // If nothing runs, the request means the queued messages.
    client.call('cancelSession', { params: { id: session.id }, body: isRunning ? { which } : {} }),
  );
  const [above, setAbove] = useState<HTMLElement | null>(null);
  const working = isWorking(session);
  const hasControls = device?.capabilities.includes('controls') === true;
  const agent = nameOfAgent(session.agentType, device);
  const takesNow = working && !prompt && device?.capabilities.includes('steer') === true;
  const sendNow = () => text.trim() !== '' && void send.run(undefined, text, attached, { now: true });
  const hint = prompt ? words.dock.instead : working ? words.dock.queue : words.dock.messageTo(agent);
  return (
    <form className="in-lane" onSubmit={submit} {...drop}>
      <Desk
        part="composer"
        {...{ session, device, text, isAsking }}
        onDone={(given) => {
          setAsking(false);
          if (given) void send.run(undefined, text, attached, given);
        }}
      />
      {prompt && (
        <QuestionCard
          key={prompt.id ?? prompt.at}
          session={session}
          device={device}
          prompt={prompt}
          at={at}
          all={prompts.length}
          onMove={(to) => setShown(prompts[to]?.id)}
          busy={send.busy}
          refusal={send.refusal}
          dismissing={cancel.busy}
          onAnswer={({ label, id }) => {
            focus();
            void send.run(prompt, label, [], id === undefined ? undefined : { option: id });
          }}
          onFields={(fields, text) => send.run(prompt, text, [], { fields })}
          onEdit={onEdit}
          onDismiss={() => {
            focus();
            void cancel.run();
          }}
        />
      )}
      {isLater ? <Notice>{words.dock.later}</Notice> : <Problem refusal={send.refusal ?? cancel.refusal} />}
      {send.refusal?.code === 'SESSION_NOT_RESOLVED' && (
        <Link href={newSessionPath(session.deviceId)} state={{ message: text }} className="button">
          {words.dock.startAgain}
        </Link>
      )}
      <Queue session={session} queue={queue} device={device} />
      <LaterPart {...{ session, device, text, send, isTiming, setTiming, atTime }} onRepeated={() => setText('')} />
      {text.startsWith('/') && (
        <Suspense>
          <Commands sessionId={session.id} text={text} field={field} onChoose={complete} />
        </Suspense>
      )}
      {takes && <AttachedImages images={images} onRemoved={focus} />}
      {(hasControls || takesFiles) && <div ref={setAbove} className="above" />}
      <div className={hasControls ? 'box two' : 'box'}>
        {takesFiles && <FileDoor draft={session.id} {...{ device, images, files, above, setText }} />}
        {takes && !takesFiles && (
          <label className="plus-sign" title={words.images.add}>
            <Plus className="i" aria-hidden />
            <ImageInput images={images} aria-label={words.images.add} />
          </label>
        )}
        <textarea
          ref={field}
          rows={1}
          required
          aria-label={words.dock.message}
          placeholder={hint}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          onPaste={paste}
        />
        {hasControls && (
          <Suspense>
            <Controls session={session} device={device} text={text} field={field} above={above} />
          </Suspense>
        )}
        <div className="ends">
          <Suspense>
            <UsageRing {...props} send={prompt ? undefined : send} />
          </Suspense>
          <StopButton session={session} queue={queue} cancel={cancel} onChosen={focus} />
          {takesNow && text !== '' ? (
            <Suspense>
              <SendButtons agent={agent} busy={send.busy} onNow={sendNow} />
            </Suspense>
          ) : (
            (!working || text !== '') && <SendButton busy={send.busy} onHold={atTime} />
          )}
        </div>
      </div>
      <p className="hints">
        <span>
          <kbd className="k">/</kbd> {words.dock.commands}
        </span>
        <span>
          <kbd className="k">Enter</kbd> {words.dock.enter}
        </span>
        <span className="grow" />
        <span>{agent}</span>
      </p>
    </form>
  );
}

/** Held or clicked with the right button, it asks for a time. */
const SendButton = ({ busy, onHold }: { busy: boolean; onHold: () => unknown }) => (
  <button
    {...holding(onHold)}
    type="submit"
    className="primary icon"
    aria-label={busy ? words.dock.sendingNow : words.dock.send}
    aria-disabled={busy}
  >
    {busy ? <span className="spinner" aria-hidden /> : <ArrowUp className="i" aria-hidden />}
  </button>
);
