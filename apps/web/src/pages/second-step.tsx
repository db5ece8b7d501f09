/** Part of `/account`: the second step at sign-in, with an authenticator app and recovery codes (rules, 8.22). */
import { Suspense, useState } from 'react';
import type { NewSecondFactor, SecondFactor } from '../auth/account.ts';
import { words } from '../catalogue.ts';
import { keepingPush } from '../push/browser.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { Copy } from '../ui/copy.tsx';
import { Field, PasswordField } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { SecondCode } from '../ui/recent-action.tsx';
import { useResource } from '../ui/resource.ts';
import { loadedLater } from '../ui/loaded-later.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Submit } from '../ui/submit.tsx';

const QrCode = loadedLater(async () => (await import('../ui/qr-code.tsx')).default);

export function SecondStep({ email }: { email: string }) {
  const { account } = useRooms();
  const found = useResource('', account.secondFactor);
  return (
    <section aria-labelledby="second-step">
      <h2 id="second-step">{words.signIn.secondStep}</h2>
      <Loaded of={found} what={words.secondFactor.loading}>
        {(state) =>
          state.hasPassword ? (
            <SecondFactorSettings
              state={state}
              email={email}
              onChange={(change) => found.change((old) => ({ ...old, ...change }))}
            />
          ) : (
            <p>{words.secondFactor.elsewhere}</p>
          )
        }
      </Loaded>
    </section>
  );
}

interface SettingsProps {
  state: SecondFactor;
  email: string;
  onChange: (change: Partial<SecondFactor>) => void;
}

function SecondFactorSettings({ state, email, onChange }: SettingsProps) {
  const { access, account, client, place } = useRooms();
  const [asks, setAsks] = useState<'begin' | 'renew' | 'off'>();
  const [begun, setBegun] = useState<NewSecondFactor>();
  /** Shown once. */
  const [codes, setCodes] = useState<readonly string[]>();

  if (codes)
    return (
      <RecoveryCodes
        codes={codes}
        email={email}
        onSaved={() => {
          setCodes(undefined);
          onChange({ on: true, recoveryCodesLeft: codes.length });
        }}
      />
    );
  if (begun)
    return (
      <ScanAndConfirm
        begun={begun}
        onDone={() => {
          setBegun(undefined);
          setCodes(begun.backupCodes);
        }}
        onNo={() => setBegun(undefined)}
      />
    );
  const withPassword = {
    begin: async (password: string) => setBegun(await account.beginSecondFactor(password)),
    renew: async (password: string, code: string) =>
      setCodes((await account.renewRecoveryCodes(password, code)).backupCodes),
    off: async (password: string, code: string) => {
      // This browser gets another sign-in with the answer.
      await keepingPush(client, place, () => access.during(() => account.turnOffSecondFactor(password, code)));
      onChange({ on: false });
    },
  };
  if (asks)
    return (
      <AskPassword
        key={asks}
        email={email}
        lead={words.secondFactor.asks[asks]}
        action={words.secondFactor.actions[asks]}
        danger={asks === 'off'}
        needsCode={asks !== 'begin'}
        work={async (password, code) => {
          await withPassword[asks](password, code);
          setAsks(undefined);
        }}
        onNo={() => setAsks(undefined)}
      />
    );
  if (!state.on)
    return (
      <>
        <p>{words.secondFactor.off}</p>
        <button type="button" onClick={() => setAsks('begin')}>
          {words.secondFactor.setUp}
        </button>
      </>
    );
  const left = state.recoveryCodesLeft;
  return (
    <>
      <p>{words.secondFactor.on}</p>
      {left !== undefined && left <= 3 ? (
        <Notice>{words.secondFactor.left(left)}</Notice>
      ) : (
        left !== undefined && <p className="hint">{words.secondFactor.left(left)}</p>
      )}
      <div className="actions start">
        <button type="button" onClick={() => setAsks('renew')}>
          {words.secondFactor.actions.renew}
        </button>
        <button type="button" className="danger" onClick={() => setAsks('off')}>
          {words.secondFactor.actions.off}
        </button>
      </div>
    </>
  );
}

interface AskPasswordProps {
  email: string;
  lead: string;
  action: string;
  danger: boolean;
  /** The second step is on. */
  needsCode: boolean;
  work: (password: string, code: string) => Promise<unknown>;
  onNo: () => void;
}

function AskPassword({ email, lead, action, danger, needsCode, work, onNo }: AskPasswordProps) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const confirm = useAction(work);
  return (
    <form onSubmit={submitting(() => confirm.run(password, code))} className="stacked" method="post">
      <p>{lead}</p>
      <input className="sr" tabIndex={-1} aria-hidden="true" autoComplete="username" readOnly value={email} />
      <PasswordField
        label={words.common.yourPassword}
        name="password-of-second-step"
        autoComplete="current-password"
        required
        autoFocus
        value={password}
        onValue={setPassword}
      />
      {needsCode && <SecondCode code={code} setCode={setCode} />}
      <Problem refusal={confirm.refusal} />
      <div className="actions start">
        {danger ? (
          <button type="submit" className="danger" aria-disabled={confirm.busy}>
            {action}
          </button>
        ) : (
          <Submit busy={confirm.busy} busyText={words.secondFactor.checking}>
            {action}
          </Submit>
        )}
        <button type="button" onClick={onNo}>
          {words.cancel}
        </button>
      </div>
    </form>
  );
}

/** Split into groups of four, for typing. */
const spaced = (secret: string) => secret.replaceAll(/(.{4})(?=.)/g, '$1 ');

function ScanAndConfirm({ begun, onDone, onNo }: { begun: NewSecondFactor; onDone: () => void; onNo: () => void }) {
  const { access, account, client, place } = useRooms();
  const [code, setCode] = useState('');
  const confirm = useAction(async () => {
    await keepingPush(client, place, () => access.during(() => account.giveCode({ code: code.replaceAll(/\s/g, '') })));
    onDone();
  });
  const secret = new URL(begun.totpURI).searchParams.get('secret') ?? '';
  return (
    <form onSubmit={submitting(confirm.run)} className="stacked" method="post">
      <p>{words.secondFactor.scan}</p>
      <Suspense fallback={null}>
        <QrCode text={begun.totpURI} label={words.secondFactor.qr} />
      </Suspense>
      <p className="hint">{words.secondFactor.orType}</p>
      <Copy text={spaced(secret)} label={words.secondFactor.key} />
      <Field
        label={words.secondFactor.confirmCode}
        hint={words.secondFactor.confirmHint}
        name="code"
        autoComplete="one-time-code"
        inputMode="numeric"
        required
        autoFocus
        maxLength={7}
        value={code}
        onValue={setCode}
      />
      <Problem refusal={confirm.refusal} />
      <div className="actions start">
        <Submit busy={confirm.busy} busyText={words.secondFactor.checking}>
          {words.secondFactor.turnOn}
        </Submit>
        <button type="button" onClick={onNo}>
          {words.cancel}
        </button>
      </div>
    </form>
  );
}

interface RecoveryCodesProps {
  codes: readonly string[];
  email: string;
  onSaved: () => void;
}

function RecoveryCodes({ codes, email, onSaved }: RecoveryCodesProps) {
  const { publicUrl } = useRooms().place;
  const [copied, setCopied] = useState<'yes' | 'failed'>();
  const text = `${words.secondFactor.fileOf(publicUrl, email)}\n\n${codes.join('\n')}\n`;
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied('yes'),
      () => setCopied('failed'),
    );
  return (
    <>
      <Notice kind="good">{words.secondFactor.saveThem}</Notice>
      <ul className="codes" aria-label={words.secondFactor.recoveryCodes}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className="actions start">
        <button type="button" onClick={() => void copy()}>
          {copied === 'yes' ? words.common.copied : words.common.copy}
        </button>
        <button type="button" onClick={() => saveFile(text, 'relay-recovery-codes.txt', 'text/plain')}>
          {words.secondFactor.download}
        </button>
        <button type="button" className="primary" onClick={onSaved}>
          {words.secondFactor.saved}
        </button>
      </div>
      <span className="sr" role="status">
        {copied === 'yes' && words.common.copied}
      </span>
      {copied === 'failed' && <p className="hint">{words.common.copyFailed}</p>}
    </>
  );
}
