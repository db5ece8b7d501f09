import { words } from '../catalogue.ts';
/** Fields with their labels. */
import { type InputHTMLAttributes, type ReactNode, useId, useState } from 'react';

type FieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> & {
  label: string;
  hint?: ReactNode;
  value: string;
  onValue: (value: string) => void;
};

export function Field({ label, hint, onValue, ...input }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        {...input}
        {...(hint ? { 'aria-describedby': `${id}-hint` } : {})}
        onChange={({ target }) => onValue(target.value)}
      />
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A password that its owner can reveal. */
export function PasswordField({ label, hint, onValue, ...input }: FieldProps) {
  const id = useId();
  const [shown, setShown] = useState(false);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="with-button">
        <input
          id={id}
          type={shown ? 'text' : 'password'}
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          maxLength={128}
          {...input}
          {...(hint ? { 'aria-describedby': `${id}-hint` } : {})}
          onChange={({ target }) => onValue(target.value)}
        />
        <button
          type="button"
          aria-label={shown ? words.common.hidePassword : words.common.showPassword}
          aria-pressed={shown}
          aria-controls={id}
          onClick={() => setShown(!shown)}
        >
          {shown ? words.common.hide : words.common.show}
        </button>
      </div>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
