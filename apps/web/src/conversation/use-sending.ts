/** Sends the text of the composer to the relay once: as a message, or as the answer to the displayed question. */
import { type RefObject, useEffect, useRef, useState } from 'react';
import type { DeskChoice, FieldValues, Message, Prompt, Session } from '@relay/protocol';
import { sendingTimeout } from '../api/bounds.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { useSendingKey, useSentLater } from '../ui/sending.ts';
import type { FilesHandle } from '../files/handle.ts';
import type { Attached } from './attached.ts';
import { keepPending, pendingSettings } from './pending-settings.ts';

interface Conversation {
  session: Session;
  messages: readonly Message[];
  onMessage: (message: Message) => void;
}

/** An answer to a question. For a message: the choice about a terminal that has the session open, whether it joins the running turn, or its time. */
type Given =
  | { option: string }
  | { fields: FieldValues }
  | { desk?: DeskChoice }
  | { now: true }
  | { notBefore: string; because?: 'limit' };

const urlOf = ({ previewUrl }: Attached) => previewUrl;

const isSame = (a: Prompt, b: Prompt): boolean => (a.id ?? a.at) === (b.id ?? b.at) && a.digest === b.digest;

/**
 * `prompts`: the open questions. `text`, `images`: the contents of the field. `onSent`: the relay accepted them. The returned action takes
 * `to`, the question shown when the person sent. `isLater`: the page sends everything by itself once it reaches the relay again, to that question
 * only. `onEdit`: the fields of the form have changed.
 */
export function useSending(
  { session, messages, onMessage }: Conversation,
  prompts: readonly Prompt[],
  text: string,
  images: readonly Attached[],
  onSent: (content: string, attached: readonly Attached[]) => void,
  files: RefObject<FilesHandle | null>,
) {
  const { client } = useRooms();
  const key = useSendingKey();
  /** A message that was sent without a successful response; it might still have arrived. */
  const unanswered = useRef<{ content: string; attached: readonly Attached[]; lastTaskId: string | undefined }>(
    undefined,
  );
  const tried = useRef<Given>(undefined);
  const lastTaskId = session.lastTask?.id;
  /** `given`: the choice whose label `content` is, or the fields that it lists. */
  const send = useAction(
    async (to: Prompt | undefined, content: string, attached: readonly Attached[], given?: Given) => {
      unanswered.current = { content, attached, lastTaskId };
      const { id, at, digest } = to ?? {};
      const fileIds = to ? [] : ((await files.current?.ready()) ?? []);
      // The same text to another question is another answer.
      const what = [id ?? at, given, content, attached.map(urlOf), fileIds];
      const idempotencyKey = key.of(JSON.stringify(what));
      const dataUrls = attached.map(({ dataUrl }) => dataUrl);
      const settings = pendingSettings(session.id);
      const choice = given && 'now' in given ? undefined : given;
      // A later attempt is for the next turn, under the same key.
      const now = given !== choice && given !== tried.current;
      tried.current = given;
      const { message } = await (id !== undefined && choice
        ? client.call('answerPrompt', {
            params: { id: session.id, uuid: id },
            body: { ...choice, ...(digest === undefined ? {} : { digest }) },
            idempotencyKey,
          })
        : client.call('sendMessage', {
            params: { id: session.id },
            body: {
              content,
              ...(now ? { deliver: 'now' } : {}),
              ...(dataUrls.length > 0 ? { images: dataUrls } : {}),
              // The message must not answer a question that opened in the meantime.
              ...(fileIds.length > 0 ? { files: fileIds, answers: null } : {}),
              ...(settings.length > 0 && !to ? { settings } : {}),
              ...(id === undefined ? choice : { answers: id }),
            },
            idempotencyKey,
            ...sendingTimeout(dataUrls),
          }));
      if (!to) keepPending(session.id, []);
      files.current?.sent(fileIds);
      sent(content, attached);
      // A message with a time joins the conversation only then.
      if (!given || !('notBefore' in given)) onMessage(message);
      // Felt on a phone.
      navigator.vibrate?.(10);
    },
  );
  // A message would answer a question that opened after it was written.
  const isOpen = (to: Prompt | undefined) => (to ? prompts.some((one) => isSame(one, to)) : prompts.length === 0);
  /** The answer of a form that was sent before its fields were changed. */
  const [edited, setEdited] = useState<unknown>();
  // The person sends text and images that changed since then.
  const isSameAs = (content: string, attached: readonly Attached[]) =>
    content === text && attached.map(urlOf).join() === images.map(urlOf).join();
  const isLater = useSentLater(send, (args) => {
    const [to, content, attached, given] = args;
    return isOpen(to) && (given && to ? args !== edited : isSameAs(content, attached));
  });
  const isOutdated = send.refusal?.code === 'OFFLINE' && !!send.args && !isOpen(send.args[0]);
  const { clear } = send;
  useEffect(() => {
    if (isOutdated) clear();
  }, [isOutdated, clear]);
  const sent = (content: string, attached: readonly Attached[]) => {
    unanswered.current = undefined;
    key.done();
    onSent(content, attached);
  };
  const newestText = messages.findLast(({ role }) => role === 'USER')?.content;
  useEffect(() => {
    const attempt = unanswered.current;
    if (!attempt || send.busy || lastTaskId === attempt.lastTaskId || newestText !== attempt.content) return;
    // The message became a task: only the response to this page was lost.
    sent(attempt.content, attempt.attached);
    send.clear();
  });
  return [send, isLater, () => setEdited(send.args)] as const;
}
