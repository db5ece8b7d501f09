/** A question of the agent, docked above the composer: all that it is about, and the buttons, inside of one card. */
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { Hand } from 'lucide-react';
import type { Prompt } from '@relay/protocol';
import { agentName, words } from '../catalogue.ts';
import { type Option, isDestructive, isNo, labelOf } from './prompt.ts';
import { Diffs } from '../transcript/parts/diff-screen.tsx';
import { diffsOf } from '../transcript/parts/patch.ts';
import { diffList } from '../transcript/parts/shape.ts';

interface QuestionCardProps {
  prompt: Prompt;
  agentType: string;
  machine: string | undefined;
  busy: boolean;
  dismissing: boolean;
  onAnswer: (option: Option) => void;
  onDismiss: () => void;
}

export function QuestionCard(props: QuestionCardProps) {
  const { prompt, agentType, machine, busy, dismissing, onAnswer, onDismiss } = props;
  const card = useRef<HTMLElement>(null);
  const { subject, context } = prompt;
  const title = prompt.prompt === '' ? prompt.result : prompt.prompt;
  const extra = context && !title.includes(context) ? context : undefined;
  const command = subject?.command ?? '';
  const diffs = subject?.diffs ? diffList(subject.diffs) : extra === undefined ? [] : diffsOf(extra);
  const danger = isDestructive(command === '' ? (extra ?? '') : command);
  const main = prompt.options.find(({ kind }) => kind === (danger ? 'reject_once' : 'allow_once'));
  const no = prompt.options.find(isNo);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== card.current || busy) return;
    const chosen = event.key === 'Enter' ? main : event.key === 'Escape' ? no : undefined;
    if (chosen) onAnswer(chosen);
  };
  // A new question is read aloud once.
  const spoken = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (spoken.current) spoken.current.textContent = title;
  }, [title]);
  return (
    <section
      ref={card}
      className={danger ? 'q danger-q' : 'q'}
      tabIndex={-1}
      data-prompt={prompt.id}
      aria-label={words.question.asks(agentName(agentType))}
      onKeyDown={onKeyDown}
    >
      <p className="sr" role="alert" ref={spoken} />
      <div className="h">
        <Hand className="i" aria-hidden />
        <span>{headOf(prompt, agentType, machine, diffs.length)}</span>
      </div>
      <div className="bd">
        <h2>{title}</h2>
        {command !== '' && !title.includes(command) && <Region label={title} text={command} />}
        {subject?.input !== undefined && command === '' && diffs.length === 0 && (
          <Region label={title} text={subject.input} />
        )}
        {extra !== undefined && diffs.length === 0 && extra !== command && <Region label={title} text={extra} />}
      </div>
      {diffs.length > 0 && (
        <div className="inside">
          <Diffs diffs={diffs} />
        </div>
      )}
      <div className="acts">
        {prompt.options.map((option, index) => (
          <button
            key={option.id ?? index}
            type="button"
            className={option === main ? 'primary' : isNo(option) ? 'danger' : ''}
            aria-disabled={busy}
            onClick={() => !busy && onAnswer(option)}
          >
            {labelOf(option)}
          </button>
        ))}
        <button type="button" className="ghost" aria-disabled={dismissing} onClick={onDismiss}>
          {dismissing ? words.question.dismissing : words.question.dismiss}
        </button>
      </div>
    </section>
  );
}

const Region = ({ label, text }: { label: string; text: string }): ReactNode => (
  <pre className="cmd" tabIndex={0} role="region" aria-label={label} dir="auto">
    {text}
  </pre>
);

function headOf({ subject }: Prompt, agentType: string, machine: string | undefined, files: number): string {
  if (subject?.type === 'command') return words.question.wantsCommand(machine);
  if (subject?.type === 'edit') return words.question.wantsEdit(files);
  if (subject?.type === 'tool') return words.question.wantsTool(subject.tool);
  return words.question.asks(agentName(agentType));
}
