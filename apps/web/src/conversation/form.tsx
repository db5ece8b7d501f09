/** The fields of a form, one at a time, inside of the card of its question. Entries are kept in this browser until they are sent. */
import { type ChangeEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { FieldValues, Prompt } from '@relay/protocol';
import { fieldProblem } from '@relay/protocol/plain';
import type { Refusal } from '../api/refusal.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { isComposing } from '../ui/composing.ts';
import { idToday, useDraft } from './use-draft.ts';
import { type Entries, type FieldEntry, type FormField, empty, firstEntry, keptEntries, valueOf, valuesOf, wordsOf } from './form-values.ts'; // prettier-ignore

interface FormProps {
  sessionId: string;
  prompt: Prompt & { id: string; fields: FormField[] };
  busy: boolean;
  /** Why the relay did not take the answer. */
  refusal: Refusal | undefined;
  /** Resolves to whether it was taken. */
  onAnswer: (values: FieldValues, words: string) => Promise<boolean>;
  onEdit: () => void;
  /** Other answers than the fields, beside the buttons of the first one. */
  options: ReactNode;
  /** Beside the buttons of each. */
  children: ReactNode;
}

export default function Form({ sessionId, prompt, busy, refusal, onAnswer, onEdit, options, children }: FormProps) {
  const { id, fields } = prompt;
  const { client } = useRooms();
  // One for each question: several may be open.
  const [draft, setDraft, forgetDraft] = useDraft(`form ${id} ${sessionId}`, '', idToday(client));
  const kept = keptEntries(draft, id);
  const step = Math.min(kept?.step ?? 0, fields.length - 1);
  const entries: Entries = kept?.entries ?? {};
  const entryOf = (field: FormField) => entries[field.name] ?? firstEntry(field);
  const keep = (next: Entries, at = step) => setDraft(JSON.stringify({ id, entries: next, step: at }));
  /** The name of the field whose problem is shown. */
  const [wrong, setWrong] = useState<string>();
  const field = fields[step]!;
  const area = useRef<HTMLDivElement>(null);
  const shownStep = useRef(step);
  useEffect(() => {
    if (shownStep.current === step) return;
    shownStep.current = step;
    area.current?.querySelector<HTMLElement>('input:checked, input, textarea')?.focus();
  }, [step]);

  const goTo = (at: number) => {
    setWrong(undefined);
    keep(entries, at);
  };
  const problemOf = (one: FormField) => fieldProblem(one, valueOf(one, entryOf(one)));
  const refuse = (one: FormField) => {
    setWrong(one.name);
    const at = fields.indexOf(one);
    if (at !== step) keep(entries, at);
    else area.current?.querySelector<HTMLElement>('input:checked, input, textarea')?.focus();
  };
  const proceed = () => {
    if (busy) return;
    if (problemOf(field)) return refuse(field);
    if (step < fields.length - 1) return goTo(step + 1);
    const bad = fields.find(problemOf);
    if (bad) return refuse(bad);
    const filled = Object.fromEntries(fields.map((one) => [one.name, entryOf(one)]));
    const values = valuesOf(fields, filled);
    void onAnswer(values, wordsOf(fields, values)).then((taken) => taken && forgetDraft());
  };

  const refused = refusal && fields.find(({ name }) => refusal.message.startsWith(`The field "${name}" `));
  const [seen, setSeen] = useState<Refusal>();
  if (refused && refusal !== seen) {
    setSeen(refusal);
    if (refused !== field) keep(entries, fields.indexOf(refused));
  }
  const own = wrong === field.name ? problemOf(field) : undefined;
  const problem = own ? words.form.problem(own, field) : refused === field ? refusal?.message : undefined;
  const isLast = step === fields.length - 1;
  return (
    <>
      <div
        className="bd form"
        ref={area}
        onKeyDown={(event) => {
          // Enter would send the message below.
          if (event.key !== 'Enter' || isComposing(event.nativeEvent) || event.target instanceof HTMLTextAreaElement)
            return;
          event.preventDefault();
          proceed();
        }}
      >
        <Controls
          key={field.name}
          field={field}
          place={fields.length > 1 ? words.form.of(step + 1, fields.length) : undefined}
          isAlone={prompt.prompt.toLowerCase().includes(field.title.toLowerCase())}
          entry={entryOf(field)}
          problem={problem}
          onEntry={(entry) => {
            keep({ ...entries, [field.name]: entry });
            onEdit();
          }}
        />
      </div>
      <div className="acts">
        <button type="button" className="primary" aria-disabled={busy} onClick={proceed}>
          {busy ? words.form.sending : isLast ? words.form.send : words.question.next}
        </button>
        {step > 0 && (
          <button type="button" onClick={() => goTo(step - 1)}>
            {words.question.back}
          </button>
        )}
        {step === 0 && options}
        {children}
      </div>
    </>
  );
}

interface ControlsProps {
  field: FormField;
  /** Its place among the fields. */
  place: string | undefined;
  /** Its title is in the question already. */
  isAlone: boolean;
  entry: FieldEntry;
  problem: string | undefined;
  onEntry: (entry: FieldEntry) => void;
}

function Controls({ field, place, isAlone, entry, problem, onEntry }: ControlsProps) {
  const id = useId();
  const { type, title, about, required, max } = field;
  const choices = type === 'boolean' ? yesOrNo() : (type === 'choice' || type === 'choices') && field.choices;
  // Shown once: as a hint, or as an error.
  const notes = [about, words.form.bounds(type, field), required ? undefined : words.form.optional].filter(
    (note) => note && note !== problem,
  );
  const describedBy = [notes.length > 0 && `${id}-notes`, problem !== undefined && `${id}-problem`].filter(Boolean);
  const described = describedBy.length === 0 ? {} : { 'aria-describedby': describedBy.join(' ') };
  const input = {
    id,
    ...described,
    'aria-invalid': problem !== undefined,
    value: entry.typed,
    onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onEntry({ ...empty, typed: target.value }),
  };
  const head = (
    <>
      <span className={isAlone && place === undefined ? 'sr' : undefined}>{title}</span>
      {place !== undefined && <span className="num">{place}</span>}
    </>
  );
  const foot = (
    <>
      {notes.length > 0 && (
        <p className="hint" id={`${id}-notes`}>
          {notes.join(' ')}
        </p>
      )}
      {problem !== undefined && (
        <p className="wrong" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </>
  );
  if (choices)
    return (
      <fieldset {...described}>
        <legend>{head}</legend>
        <Choices
          field={field}
          choices={choices}
          entry={entry}
          onEntry={onEntry}
          name={id}
          invalid={problem !== undefined}
        />
        {foot}
      </fieldset>
    );
  const isNumber = type === 'number' || type === 'integer';
  return (
    <div className="field">
      <label htmlFor={id}>{head}</label>
      {isNumber ? (
        <input
          {...input}
          type="text"
          inputMode={type === 'integer' && (field.min ?? -1) >= 0 ? 'numeric' : 'text'}
          autoComplete="off"
        />
      ) : max !== undefined && max <= 120 ? (
        <input {...input} type="text" />
      ) : (
        <textarea {...input} rows={2} />
      )}
      {foot}
    </div>
  );
}

const yesOrNo = () => [
  { id: 'true', label: words.form.yes, about: undefined },
  { id: 'false', label: words.form.no, about: undefined },
];

interface ChoicesProps {
  field: FormField;
  choices: readonly { id: string; label: string; about?: string | undefined }[];
  entry: FieldEntry;
  name: string;
  invalid: boolean;
  onEntry: (entry: FieldEntry) => void;
}

function Choices({ field: { type, text }, choices, entry, name, invalid, onEntry }: ChoicesProps) {
  const several = type === 'choices';
  const kind = several ? 'checkbox' : 'radio';
  const pick = (choice: string, on: boolean) => {
    if (!several) return onEntry({ ...entry, picked: [choice], own: false });
    const others = entry.picked.filter((one) => one !== choice);
    // In the order of the offer.
    const all = on ? choices.map(({ id }) => id).filter((id) => id === choice || others.includes(id)) : others;
    return onEntry({ ...entry, picked: all });
  };
  return (
    <>
      {choices.map(({ id, label, about }) => (
        <label className="opt" key={id}>
          <input
            type={kind}
            name={name}
            checked={entry.picked.includes(id) && (several || !entry.own)}
            aria-invalid={invalid}
            onChange={({ target }) => pick(id, target.checked)}
          />
          <span>
            <b>{label}</b>
            {about !== undefined && <span>{about}</span>}
          </span>
        </label>
      ))}
      {text === true && (
        <label className="opt">
          <input
            type={kind}
            name={name}
            checked={entry.own}
            aria-invalid={invalid}
            onChange={({ target }) => onEntry({ ...entry, own: target.checked, picked: several ? entry.picked : [] })}
          />
          <span>
            <b>{words.form.somethingElse}</b>
            {!entry.own && <span>{words.form.ownWords}</span>}
          </span>
        </label>
      )}
      {text === true && entry.own && (
        <textarea
          rows={2}
          autoFocus={entry.typed === ''}
          aria-label={words.form.ownWords}
          aria-invalid={invalid}
          value={entry.typed}
          onChange={({ target }) => onEntry({ ...entry, typed: target.value })}
        />
      )}
    </>
  );
}
