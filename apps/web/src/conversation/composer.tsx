/** Where a person writes: a message, or the answer to what the agent asks. */
import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { Device, Message, Prompt, Session } from '@relay/protocol';
import { sendingTimeout } from '../api/bounds.ts';
import { useRooms } from '../rooms.ts';
import { Commands } from './commands.tsx';
import { type Attached, ImagePicker, pasting, takesImages, useImages } from './images.tsx';
import { useAction } from '../ui/action.ts';
import { Problem } from '../ui/notice.tsx';
import { useSendingKey } from '../ui/sending.ts';
import { Submit } from '../ui/submit.tsx';

interface ComposerProps {
  session: Session;
  messages: readonly Message[];
  device: Device | undefined;
  onSaid: (message: Message) => void;
}

export function Composer({ session, messages, device, onSaid }: ComposerProps) {
  const { client } = useRooms();
  const [text, setText] = useState('');
  const key = useSendingKey();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const images = useImages();
  const takes = takesImages(device);
  /** What was sent and has had no good answer; it may have arrived all the same. */
  const unanswered = useRef<{ content: string; attached: readonly Attached[]; lastTaskId: string | undefined }>(
    undefined,
  );
  const lastTaskId = session.lastTask?.id;
  const send = useAction(async (content: string, attached: readonly Attached[] = []) => {
    unanswered.current = { content, attached, lastTaskId };
    // The same words to another question are another answer.
    const what = JSON.stringify([session.prompt?.at, content, attached.map(({ previewUrl }) => previewUrl)]);
    const dataUrls = attached.map(({ dataUrl }) => dataUrl);
    const { message } = await client.call('sendMessage', {
      params: { id: session.id },
      body: dataUrls.length > 0 ? { content, images: dataUrls } : { content },
      idempotencyKey: key.of(what),
      ...sendingTimeout(dataUrls),
    });
    sent(content, attached);
    onSaid(message);
  });
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
  const { prompt } = session;
  return (
    <form className="composer" onSubmit={submit}>
      {prompt && <Question prompt={prompt} busy={send.busy} onAnswer={(label) => void send.run(label)} />}
      <Problem refusal={send.refusal} />
      <Commands sessionId={session.id} text={text} onChoose={complete} />
      <label htmlFor={id}>{prompt ? 'Your answer' : 'Message'}</label>
      <div className="with-button">
        <textarea
          ref={field}
          id={id}
          rows={2}
          required
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          onPaste={takes ? pasting(images) : undefined}
        />
        <Submit busy={send.busy} busyText="Sending">
          Send
        </Submit>
      </div>
      {takes && <ImagePicker images={images} />}
    </form>
  );
}

function Question({ prompt, busy, onAnswer }: { prompt: Prompt; busy: boolean; onAnswer: (label: string) => void }) {
  return (
    <fieldset className="question">
      <legend>The agent asks</legend>
      <p className="words">{prompt.prompt === '' ? prompt.result : prompt.prompt}</p>
      {prompt.context && !prompt.prompt.includes(prompt.context) && <p className="words">{prompt.context}</p>}
      <div className="actions start">
        {prompt.options.map(({ label }, index) => (
          <button key={index} type="button" aria-disabled={busy} onClick={() => onAnswer(label)}>
            {label}
          </button>
        ))}
      </div>
    </fieldset>
  );
}
