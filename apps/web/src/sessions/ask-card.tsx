/** A question of an agent in the list: where a short look is enough, it is answered here. */
import { Suspense } from 'react';
import { ChevronRight } from '../ui/icons.tsx';
import type { Device, InboxItem, Session } from '@relay/protocol';
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { useOwnTexts } from '../conversation/own-question.ts';
import { type Option, commandOf, labelOf, questionOf, quickAnswers } from '../conversation/prompt.ts';
import { useAnswer } from '../conversation/use-answer.ts';
import { Snooze } from '../inbox/lazy.ts';
import { sessionPath } from '../ui/address.ts';
import { folderOf } from '../ui/folder.ts';
import { inOrder } from '../ui/in-order.tsx';
import { Problem } from '../ui/notice.tsx';
import { titleOf } from './use-changes.ts';

interface AskCardProps {
  session: Session;
  device: Device | undefined;
  /** Its item in the inbox, once it is known. */
  item: InboxItem | undefined;
  /** One line, which leads to the question. */
  isLine?: boolean;
}

export function AskCard({ session, device, item, isLine = false }: AskCardProps) {
  const prompt = useOwnTexts(session.prompt);
  const answer = useAnswer(session.id, prompt);
  const quick = prompt && quickAnswers(prompt);
  const question = prompt && questionOf(prompt);
  const place = folderOf(session.projectPath) || device?.name;
  if (isLine)
    return (
      <li className="ask line" data-id={session.id} data-prompt={prompt?.id}>
        <Link href={sessionPath(session.id)} className="about">
          <span className="cut">{question ?? titleOf(session)}</span>
        </Link>
      </li>
    );
  const button = (option: Option, className: string) => (
    <button
      type="button"
      className={`small ${className}`}
      aria-disabled={answer.busy}
      // Felt on a phone.
      onClick={() => void answer.run(option).then((isGiven) => isGiven && navigator.vibrate?.(10))}
    >
      {labelOf(option)}
    </button>
  );
  return (
    <li className="ask" data-id={session.id} data-prompt={prompt?.id}>
      <Link href={sessionPath(session.id)} className="about">
        <span className={quick ? 'what whole' : 'what'}>{question ?? titleOf(session)}</span>
        <span className="where">
          {[titleOf(session), place].filter((part) => part && part !== question).join(' · ')}
        </span>
      </Link>
      {prompt?.subject?.command !== undefined && <pre dir="ltr">{inOrder(commandOf(prompt.subject))}</pre>}
      <Problem refusal={answer.refusal} />
      <div className="acts">
        {quick ? (
          <>
            {button(quick.allow, 'primary')}
            {button(quick.reject, '')}
          </>
        ) : (
          <Link href={sessionPath(session.id)} className="button small">
            {prompt?.subject ? words.list.review : words.list.choices(prompt?.options.length ?? 0)}
            <ChevronRight className="i" aria-hidden />
          </Link>
        )}
        {item && (
          <Suspense fallback={null}>
            <Snooze item={item} />
          </Suspense>
        )}
      </div>
    </li>
  );
}
