/** A question of the agent, docked above the composer: its subject and its buttons in one card. */
import { type KeyboardEvent, type ReactNode, Suspense, useEffect, useMemo, useRef } from 'react';
import { Hand } from '../transcript/icons.tsx';
import { Folder } from '../ui/icons.tsx';
import type { Device, FieldValues, Prompt, Session } from '@relay/protocol';
import type { Refusal } from '../api/refusal.ts';
import { loadWords, words } from '../catalogue.ts';
import { agentName } from '../ui/agents.ts';
import { useOwnTexts } from './own-question.ts';
import { type Option, isDestructive, isNo, labelOf, shownOf } from './prompt.ts';
import { Diffs } from '../transcript/parts/diff-screen.tsx';
import { diffsOf } from '../transcript/parts/patch.ts';
import { diffList } from '../transcript/parts/shape.ts';
import { inOrder } from '../ui/in-order.tsx';
import { Unloaded, loadedLater } from '../ui/loaded-later.tsx';

const Form = loadedLater(
  async () => (await Promise.all([import('./form.tsx'), loadWords('form')]))[0].default,
  Unloaded,
);

interface QuestionCardProps {
  session: Session;
  device: Device | undefined;
  prompt: Prompt;
  /** Its place among the open questions, the oldest first; several are shown one at a time. */
  at: number;
  all: number;
  onMove: (at: number) => void;
  busy: boolean;
  /** Why the relay refused the last answer. */
  refusal: Refusal | undefined;
  dismissing: boolean;
  onAnswer: (option: Option) => void;
  onFields: (values: FieldValues, words: string) => Promise<boolean>;
  /** A field of the form has changed. */
  onEdit: () => void;
  onDismiss: () => void;
}

export function QuestionCard(props: QuestionCardProps) {
  const { session, device, at, all, onMove, busy, dismissing, onAnswer, onDismiss } = props;
  const prompt = useOwnTexts(props.prompt);
  const card = useRef<HTMLElement>(null);
  const shown = useMemo(() => shownOf(prompt), [prompt]);
  const { subject, context } = shown;
  const title = shown.prompt === '' ? shown.result : shown.prompt;
  const extra = context && !title.includes(context) ? context : undefined;
  const command = subject?.command ?? '';
  const isPermission = prompt.options.some(({ kind }) => kind !== undefined);
  const folder = subject || isPermission ? subject?.cwd || shownOf(session.projectPath) : undefined;
  const diffs = subject?.diffs ? diffList(subject.diffs) : extra === undefined ? [] : diffsOf(extra);
  const danger = isDestructive(command === '' ? (extra ?? '') : command);
  const main = prompt.options.find(({ kind }) => kind === (danger ? 'reject_once' : 'allow_once'));
  const no = prompt.options.find(isNo);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== card.current || busy) return;
    const chosen = event.key === 'Enter' ? main : event.key === 'Escape' ? no : undefined;
    if (chosen) onAnswer(chosen);
  };
  // Screen readers announce a new question once.
  const announced = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (announced.current) announced.current.textContent = title;
  }, [title]);
  const options = prompt.options
    .filter(({ label }) => !(isForm(prompt) && isOfField(prompt, label)))
    .map((option, index) => (
      <button
        key={option.id ?? index}
        type="button"
        className={option === main ? 'primary' : isNo(option) ? 'danger' : ''}
        aria-disabled={busy}
        onClick={() => !busy && onAnswer(option)}
      >
        {labelOf(option)}
      </button>
    ));
  const dismiss = (
    <button type="button" className="ghost" aria-disabled={dismissing} onClick={onDismiss}>
      {dismissing ? words.question.dismissing : words.question.dismiss}
    </button>
  );
  return (
    <section
      ref={card}
      className={danger ? 'q danger-q' : 'q'}
      tabIndex={-1}
      data-prompt={prompt.id}
      aria-label={words.question.asks(agentName(session.agentType))}
      onKeyDown={onKeyDown}
    >
      <p className="sr" role="alert" ref={announced} />
      <div className="h">
        <Hand className="i" aria-hidden />
        <span>{headOf(shown, session.agentType, device?.name, diffs.length)}</span>
        {all > 1 && (
          <span className="r turns">
            <button type="button" className="ghost" disabled={at === 0} onClick={() => onMove(at - 1)}>
              {words.question.back}
            </button>
            {words.question.of(at + 1, all)}
            <button type="button" className="ghost" disabled={at === all - 1} onClick={() => onMove(at + 1)}>
              {words.question.next}
            </button>
          </span>
        )}
      </div>
      <div className="bd">
        <h2>{title}</h2>
        {command !== '' && (!title.includes(command) || inOrder(command) !== command) && (
          <Region label={title} text={command} dir="ltr" />
        )}
        {folder && (
          <p className="folder">
            <Folder className="i" aria-hidden />
            <span className="sr">{words.question.folder}</span>
            <code dir="ltr">{inOrder(folder)}</code>
          </p>
        )}
        {subject?.input !== undefined && (
          <Input label={title} text={subject.input} isFolded={command !== '' || diffs.length > 0} />
        )}
        {extra !== undefined && diffs.length === 0 && extra !== command && <Region label={title} text={extra} />}
      </div>
      {diffs.length > 0 && (
        <div className="inside">
          <Diffs diffs={diffs} />
        </div>
      )}
      {isForm(prompt) ? (
        <Suspense fallback={<FormPlace of={shown as FormPrompt}>{dismiss}</FormPlace>}>
          <Form
            {...{ sessionId: session.id, prompt: shown as FormPrompt, busy, options }}
            refusal={props.refusal}
            onAnswer={props.onFields}
            onEdit={props.onEdit}
          >
            {dismiss}
          </Form>
        </Suspense>
      ) : (
        <div className="acts">
          {options}
          {dismiss}
        </div>
      )}
    </section>
  );
}

type FormPrompt = Prompt & Required<Pick<Prompt, 'id' | 'fields'>>;
const isForm = (prompt: Prompt): prompt is FormPrompt =>
  prompt.kind === 'form' && prompt.id !== undefined && (prompt.fields?.length ?? 0) > 0;

/** The first field, until the form has loaded. */
function FormPlace({ of: { fields }, children }: { of: FormPrompt; children: ReactNode }) {
  const { title, choices = [] } = fields[0]!;
  return (
    <>
      <div className="bd form" aria-busy>
        <p>{title}</p>
        {choices.map(({ id, label }) => (
          <p className="opt" key={id}>
            <b>{label}</b>
          </p>
        ))}
      </div>
      <div className="acts">{children}</div>
    </>
  );
}

/** Offered for apps without fields: a choice of the first field, or its default. */
const isOfField = ({ fields: [first] }: FormPrompt, label: string): boolean =>
  label === first?.default ||
  (first?.type === 'boolean'
    ? /^(?:yes|no)$/i.test(label)
    : first?.choices?.some((choice) => choice.label === label) === true);

/** The input of a tool. Beside a command or a change it is one click away. */
const Input = ({ label, text, isFolded }: { label: string; text: string; isFolded: boolean }): ReactNode =>
  isFolded ? (
    <details className="input">
      <summary>{words.question.input}</summary>
      <Region label={label} text={text} />
    </details>
  ) : (
    <Region label={label} text={text} />
  );

/** `ltr`: a command or its input, in the order of its characters. */
const Region = ({ label, text, dir = 'auto' }: { label: string; text: string; dir?: 'auto' | 'ltr' }): ReactNode => (
  <pre className="cmd" tabIndex={0} role="region" aria-label={label} dir={dir}>
    {dir === 'ltr' ? inOrder(text) : text}
  </pre>
);

function headOf({ subject }: Prompt, agentType: string, machine: string | undefined, files: number): string {
  if (subject?.type === 'command') return words.question.wantsCommand(machine);
  if (subject?.type === 'edit') return words.question.wantsEdit(files);
  if (subject?.type === 'tool') return words.question.wantsTool(subject.tool);
  return words.question.asks(agentName(agentType));
}
