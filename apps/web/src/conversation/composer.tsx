/** Where a person writes: a message, or the answer to what the agent asks. */
import { type FormEvent, type KeyboardEvent, Suspense, lazy, useEffect, useId, useRef, useState } from 'react';
import { ArrowUp, Plus, Square } from 'lucide-react';
import type { Device, FieldValues, Message, Session } from '@relay/protocol';
import { sendingTimeout } from '../api/bounds.ts';
import { words } from '../catalogue.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { useRooms } from '../rooms.ts';
import { type Attached, AttachedImages, ImageInput, dropping, pasting, takesImages, useImages } from './images.tsx';
import { isWorking } from './activity.tsx';
import { QuestionCard } from './question-card.tsx';
import { Queue } from './queue.tsx';
import type { Waiting } from './waiting.ts';
import { useDraft } from './use-draft.ts';
import { useAction } from '../ui/action.ts';
import { Notice, Problem } from '../ui/notice.tsx';
import { useSendingKey, useSentLater } from '../ui/sending.ts';

const Commands = lazy(() => import('./commands.tsx'));

interface ComposerProps {
  session: Session;
  /** The queued messages. */
  queue: Waiting;
  messages: readonly Message[];
  device: Device | undefined;
  onSaid: (message: Message) => void;
}

type Given = { option: string } | { fields: FieldValues };

export function Composer({ session, queue, messages, device, onSaid }: ComposerProps) {
  const { client } = useRooms();
  const [text, setText] = useDraft(session.id);
  const key = useSendingKey();
  const field = useRef<HTMLTextAreaElement>(null);
  const images = useImages();
  const takes = takesImages(device);
  /** A message that was sent without a successful answer; it may have arrived all the same. */
  const unanswered = useRef<{ content: string; attached: readonly Attached[]; lastTaskId: string | undefined }>(
    undefined,
  );
  const lastTaskId = session.lastTask?.id;
  const prompts = session.prompts ?? (session.prompt ? [session.prompt] : []);
  /** The id of the question that is shown; without it, the oldest. */
  const [shown, setShown] = useState<string>();
  const at = Math.max(0, prompts.findIndex(({ id }) => id === shown)); // prettier-ignore
  const prompt = prompts[at];
  /** `given`: the choice whose label `content` is, or the fields that it lists. */
  const send = useAction(async (content: string, attached: readonly Attached[] = [], given?: Given) => {
    unanswered.current = { content, attached, lastTaskId };
    // The same words to another question are another answer.
    const what = [prompt?.id ?? prompt?.at, given, content, attached.map(({ previewUrl }) => previewUrl)];
    const idempotencyKey = key.of(JSON.stringify(what));
    const dataUrls = attached.map(({ dataUrl }) => dataUrl);
    const body = {
      content,
      ...(dataUrls.length > 0 ? { images: dataUrls } : {}),
      ...(prompt?.id === undefined ? {} : { answers: prompt.id }),
    };
    const { message } =
      prompt?.id !== undefined && given
        ? await client.call('answerPrompt', {
            params: { id: session.id, uuid: prompt.id },
            body: { ...given, ...(prompt.digest === undefined ? {} : { digest: prompt.digest }) },
            idempotencyKey,
          })
        : await client.call('sendMessage', {
            params: { id: session.id },
            body,
            idempotencyKey,
            ...sendingTimeout(dataUrls),
          });
    sent(content, attached);
    onSaid(message);
    // Felt on a phone.
    navigator.vibrate?.(10);
  });
  // Words that were changed meanwhile are for the person to send.
  const isLater = useSentLater(send, ([content, , given]) => content === text || !!given);
  const sent = (content: string, attached: readonly Attached[]) => {
    unanswered.current = undefined;
    key.done();
    images.sent(attached);
    setText((now) => (now === content ? '' : now));
  };
  const newestSaid = messages.findLast(({ role }) => role === 'USER')?.content;
  useEffect(() => {
    const attempt = unanswered.current;
    if (!attempt || send.busy || lastTaskId === attempt.lastTaskId || newestSaid !== attempt.content) return;
    // It is a task by now: only the answer to this page was lost.
    sent(attempt.content, attempt.attached);
    send.clear();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') void send.run(text, takes ? images.all : []);
  };
  // On a keyboard Enter sends; on glass it makes a new line.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    if (!event.ctrlKey && !event.metaKey && window.matchMedia('(pointer: coarse)').matches) return;
    submit(event);
  };
  const complete = (command: string) => {
    setText(command);
    field.current?.focus();
  };
  const isRunning = session.runningSince !== undefined || prompt !== undefined;
  const cancel = useAction((which: 'running' | 'all' = 'running') =>
    // Where nothing runs, what waits is meant.
    client.call('cancelSession', { params: { id: session.id }, body: isRunning ? { which } : {} }),
  );
  const hasQueue = queue.tasks.length > 0;
  const stopMenu = useRef<HTMLDivElement>(null);
  const stopId = useId();
  const stop = (which: 'running' | 'all') => () => {
    stopMenu.current?.hidePopover();
    field.current?.focus();
    void cancel.run(which);
  };
  const working = isWorking(session);
  const agent = nameOfAgent(session.agentType, device);
  const hint = prompt ? words.dock.instead : working ? words.dock.queue : words.dock.messageTo(agent);
  return (
    <form className="in-lane" onSubmit={submit} {...(takes && dropping(images))}>
      {prompt && (
        <QuestionCard
          key={prompt.id ?? prompt.at}
          sessionId={session.id}
          prompt={prompt}
          at={at}
          all={prompts.length}
          onMove={(to) => setShown(prompts[to]?.id)}
          agentType={session.agentType}
          machine={device?.name}
          busy={send.busy}
          refusal={send.refusal}
          dismissing={cancel.busy}
          onAnswer={({ label, id }) => {
            field.current?.focus();
            void send.run(label, [], id === undefined ? undefined : { option: id });
          }}
          onFields={(fields, said) => send.run(said, [], { fields })}
          onDismiss={() => {
            field.current?.focus();
            void cancel.run();
          }}
        />
      )}
      {isLater ? <Notice>{words.dock.later}</Notice> : <Problem refusal={send.refusal ?? cancel.refusal} />}
      <Queue session={session} queue={queue} />
      {text.startsWith('/') && (
        <Suspense>
          <Commands sessionId={session.id} text={text} field={field} onChoose={complete} />
        </Suspense>
      )}
      {takes && <AttachedImages images={images} onRemoved={() => field.current?.focus()} />}
      <div className="box">
        {takes && (
          <label className="plus-sign" title={words.dock.addImages}>
            <Plus className="i" aria-hidden />
            <ImageInput images={images} aria-label={words.dock.addImages} />
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
          onPaste={takes ? pasting(images) : undefined}
        />
        <div className="ends">
          {hasQueue && (
            <div className="menu up" id={stopId} popover="auto" ref={stopMenu}>
              <button type="button" onClick={stop('running')}>
                {words.queue.stopThis}
              </button>
              <button type="button" onClick={stop('all')}>
                {words.queue.stopAll}
              </button>
            </div>
          )}
          {working && (
            <button
              type="button"
              className="icon"
              aria-label={words.dock.stop}
              title={words.dock.stopTitle}
              aria-disabled={cancel.busy}
              {...(hasQueue ? { popoverTarget: stopId } : { onClick: () => void cancel.run() })}
            >
              {cancel.busy ? <span className="spinner" aria-hidden="true" /> : <Square className="i" aria-hidden />}
            </button>
          )}
          {(!working || text !== '') && (
            <button
              type="submit"
              className="primary icon"
              aria-label={send.busy ? words.dock.sendingNow : words.dock.send}
              aria-disabled={send.busy}
            >
              {send.busy ? <span className="spinner" aria-hidden="true" /> : <ArrowUp className="i" aria-hidden />}
            </button>
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
        <span>{agent || session.agentType}</span>
      </p>
    </form>
  );
}
