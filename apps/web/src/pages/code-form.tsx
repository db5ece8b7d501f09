/** Part of `/sign-in`: the second step, with a code of the app or a recovery code. */
import { useState } from 'react';
import type { Refusal } from '../api/refusal.ts';
import { words } from '../catalogue.ts';
import { submitting } from '../ui/action.ts';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/notice.tsx';
import { Submit } from '../ui/submit.tsx';

interface CodeFormProps {
  busy: boolean;
  refusal: Refusal | undefined;
  onCode: (kind: 'app' | 'recovery', code: string) => void;
  /** Back to the password. */
  onAgain: () => void;
}

/** Refusals that require the password again. */
const over: readonly string[] = ['INVALID_TWO_FACTOR_COOKIE', 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE'];

export function CodeForm({ busy, refusal, onCode, onAgain }: CodeFormProps) {
  const [kind, setKind] = useState<'app' | 'recovery'>('app');
  const [code, setCode] = useState('');
  const submit = submitting(() => onCode(kind, kind === 'app' ? code.replaceAll(/\s/g, '') : code.trim()));
  const change = () => {
    setCode('');
    setKind(kind === 'app' ? 'recovery' : 'app');
  };
  if (refusal && over.includes(refusal.code))
    return (
      <>
        <Problem refusal={refusal} />
        <button type="button" className="primary" onClick={onAgain}>
          {words.secondStep.again}
        </button>
      </>
    );
  return (
    <form onSubmit={submit} method="post">
      {/* Another field, not the same with another name: what was typed and what the browser offers belong to one of them. */}
      {kind === 'app' ? (
        <Field
          key="app"
          label={words.secondStep.code}
          hint={words.secondStep.codeHint}
          name="code"
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          autoFocus
          maxLength={7}
          value={code}
          onValue={setCode}
        />
      ) : (
        <Field
          key="recovery"
          label={words.secondStep.recoveryCode}
          hint={words.secondStep.recoveryHint}
          name="recovery-code"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          required
          autoFocus
          maxLength={64}
          value={code}
          onValue={setCode}
        />
      )}
      <Problem refusal={refusal} />
      <Submit busy={busy} busyText={words.signIn.signingIn}>
        {words.signIn.title}
      </Submit>
      <button type="button" className="ghost" onClick={change}>
        {kind === 'app' ? words.secondStep.useRecovery : words.secondStep.useApp}
      </button>
    </form>
  );
}
