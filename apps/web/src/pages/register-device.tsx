/**
 * `/device`: a machine shows a code, and its owner decides here whether it can act for them. Looking at the page never allows
 * anything.
 */
import { useEffect, useState } from 'react';
import type { CodeDetail } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { useQuery, useStartSession } from '../ui/address.ts';
import { agentName } from '../ui/agents.ts';
import { Copy } from '../ui/copy.tsx';
import { daemonCommands } from '../ui/daemon-commands.ts';
import { useDevices } from '../ui/device-list.ts';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page, WayOn } from '../ui/page.tsx';
import { PasswordAgain, ProvidersAgain, useRecentAction } from '../ui/recent-action.tsx';
import { useResource } from '../ui/resource.ts';
import { Sentence } from '../ui/sentence.tsx';
import { Ago, fullTime } from '../ui/time.tsx';
import { isWhole, shownCode } from '../ui/user-code.ts';
import { visible } from '../ui/visible.ts';
import { Waiting } from '../ui/waiting.tsx';

export function RegisterDevice() {
  const given = shownCode(useQuery().get('user_code') ?? '');
  const [code, setCode] = useState(given);
  const [submitted, setSubmitted] = useState(isWhole(given) ? given : undefined);
  return (
    <Page title={words.machines.connect} narrow>
      {submitted === undefined ? (
        <form onSubmit={submitting(() => isWhole(code) && setSubmitted(code))}>
          <Field
            label={words.approve.code}
            hint={words.approve.eight}
            name="user_code"
            className="code"
            autoComplete="off"
            autoCapitalize="characters"
            autoCorrect="off"
            spellCheck={false}
            inputMode="text"
            placeholder="XXXX-XXXX"
            required
            pattern="\s*(?:[A-Za-z][\s\-]*){8}"
            title={words.approve.eight}
            value={code}
            onValue={setCode}
            onBlur={() => setCode(shownCode(code))}
          />
          <button type="submit" className="primary">
            {words.approve.continue}
          </button>
        </form>
      ) : (
        <Question key={submitted} code={submitted} onOther={() => setSubmitted(undefined)} />
      )}
    </Page>
  );
}

function Question({ code, onOther }: { code: string; onOther: () => void }) {
  const { client } = useRooms();
  const detail = useResource(code, () => client.call('readCode', { params: { userCode: code } }));
  const [decided, setDecided] = useState<{ deviceId: string; sinceMs: number } | 'denied'>();
  const approve = useRecentAction(async () => {
    const { deviceId } = await client.call('approveCode', { params: { userCode: code } });
    setDecided({ deviceId, sinceMs: Date.now() });
  });
  const deny = useAction(async () => {
    await client.call('denyCode', { params: { userCode: code } });
    setDecided('denied');
  });
  const another = (
    <p>
      <button type="button" onClick={onOther}>
        {words.approve.another}
      </button>
    </p>
  );

  if (decided === 'denied')
    return (
      <>
        <Notice kind="good">
          <Sentence text={words.approve.denied} code={<strong>{code}</strong>} />
        </Notice>
        {another}
      </>
    );
  if (detail.kind === 'failed')
    return (
      <>
        <Problem refusal={detail.refusal} />
        {another}
      </>
    );
  return (
    <Loaded of={detail} what={words.approve.checking}>
      {(found) =>
        decided ? (
          <Approved detail={found} {...decided} />
        ) : (
          <>
            <Facts detail={found} />
            <Notice>
              <Sentence text={words.approve.doesShow} code={<strong>{found.userCode}</strong>} />
            </Notice>
            <form onSubmit={submitting(() => !deny.busy && approve.run())} method="post">
              {approve.again && <PasswordAgain {...approve} />}
              <Problem refusal={approve.refusal ?? deny.refusal} />
              <div className="actions">
                <button type="button" aria-disabled={deny.busy || approve.busy} onClick={() => void deny.run()}>
                  {deny.busy ? words.approve.denying : words.approve.deny}
                </button>
                <button type="submit" className="primary" aria-disabled={deny.busy || approve.busy}>
                  {approve.busy ? words.approve.approving : words.approve.approve}
                </button>
              </div>
            </form>
            {approve.again && (
              <ProvidersAgain returnTo={`/device?${new URLSearchParams({ user_code: code }).toString()}`} />
            )}
          </>
        )
      }
    </Loaded>
  );
}

function Facts({ detail }: { detail: CodeDetail }) {
  return (
    <dl className="facts">
      <dt>{words.list.machine}</dt>
      <dd>{visible(detail.hostname)}</dd>
      {detail.deviceName !== '' && detail.deviceName !== detail.hostname && (
        <>
          <dt>{words.common.name}</dt>
          <dd>{visible(detail.deviceName)}</dd>
        </>
      )}
      <dt>{words.machine.agent}</dt>
      <dd>{agentName(detail.agentType) || visible(detail.agentType)}</dd>
      <dt>{words.approve.from}</dt>
      <dd>{detail.requestedFrom}</dd>
      <dt>{words.approve.requested}</dt>
      <dd>
        <Ago at={detail.requestedAt} /> ({fullTime(detail.requestedAt)})
      </dd>
      <dt>{words.approve.codeName}</dt>
      <dd className="code shown-code">{detail.userCode}</dd>
    </dl>
  );
}

/** The machine learns of it with its next poll, and comes online when its daemon is started; then its first session can begin. */
function Approved({ detail, deviceId, sinceMs }: { detail: CodeDetail; deviceId: string; sinceMs: number }) {
  const devices = useDevices();
  const startSession = useStartSession();
  const isOnline =
    devices.kind === 'ready' && devices.value.some(({ id, status }) => id === deviceId && status === 'online');
  useEffect(() => {
    // Its code is used up: nothing here to come back to.
    if (isOnline) startSession(deviceId, { replace: true });
  }, [isOnline]);
  const name = visible(detail.deviceName === '' ? detail.hostname : detail.deviceName);
  return (
    <>
      <Notice kind="good">
        <Sentence text={words.approve.approved} name={<strong>{name}</strong>} />
      </Notice>
      <Waiting what={words.approve.waiting} sinceMs={sinceMs} />
      <p className="hint">{words.approve.finish}</p>
      <Copy text={daemonCommands.start} label={words.connect.startCommand} />
      <WayOn path="/devices">{words.machine.all}</WayOn>
    </>
  );
}
