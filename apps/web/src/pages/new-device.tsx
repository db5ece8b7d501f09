/** `/devices/new`: how to connect a machine. When it comes online the page leads on to its first session. */
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { useLiveState, useRooms } from '../rooms.ts';
import { submitting } from '../ui/action.ts';
import { useStartSession } from '../ui/address.ts';
import { Copy } from '../ui/copy.tsx';
import { daemonCommands } from '../ui/daemon-commands.ts';
import { useDevices } from '../ui/device-list.ts';
import { WorkingSign } from '../ui/mark.tsx';
import { Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { PasswordAgain, ProvidersAgain, useRecentAction } from '../ui/recent-action.tsx';
import { loadedLater } from '../ui/loaded-later.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { DeviceKeys } from './device-keys.tsx';

const QrCode = loadedLater(async () => (await import('../ui/qr-code.tsx')).default);

const Step = ({
  n,
  title,
  className,
  children,
}: {
  n: number;
  title: string;
  className?: string;
  children: ReactNode;
}) => (
  <li className={className === undefined ? 'step' : `step ${className}`}>
    <span className="n" aria-hidden="true">
      {n}
    </span>
    <div className="bd">
      <h2>{title}</h2>
      {children}
    </div>
  </li>
);

/** True if a phone would look for the relay on itself at this address. */
const isLocal = (url: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

export function NewDevice() {
  const { place } = useRooms();
  const devices = useDevices();
  const isLive = useLiveState().kind === 'live';
  const startSession = useStartSession();
  const [key, setKey] = useState<string>();
  const [before, setBefore] = useState<ReadonlySet<string>>();
  const online = devices.kind === 'ready' ? devices.value.filter(({ status }) => status === 'online') : [];
  // Machines that are online when the page opens are not new. While the live stream is away the list might be outdated.
  if (before === undefined && isLive && devices.kind === 'ready') setBefore(new Set(online.map(({ id }) => id)));
  const arrived = before && online.find(({ id }) => !before.has(id))?.id;
  useEffect(() => {
    if (arrived !== undefined) startSession(arrived);
  }, [arrived]);
  const isFirst = devices.kind === 'ready' && devices.value.length === 0;
  return (
    <Page title={isFirst ? words.connect.first : words.machines.connect} lead={words.connect.lead}>
      <ol className="steps">
        <Step n={1} title={words.connect.run}>
          <Copy text={daemonCommands.install(place, key)} label={words.connect.runCommand} />
          <p>{words.connect.runMore}</p>
          {key === undefined ? <ApproveNow onKey={setKey} /> : <p>{words.connect.withKey}</p>}
          {place.authority && <p>{words.connect.trusts}</p>}
        </Step>
        <Step n={2} title={key === undefined ? words.connect.approve : words.connect.approved}>
          {key === undefined && (
            <p>
              <Sentence text={words.connect.approveMore} enter={<Link href="/device">{words.connect.enter}</Link>} />
            </p>
          )}
          <div className="note" role="status">
            <WorkingSign />
            <span>
              <Sentence text={words.connect.waiting} strong={<strong>{words.connect.waitingFor}</strong>} />
            </span>
          </div>
        </Step>
        <Step n={3} title={words.connect.phone} className="for-a-phone">
          {isLocal(place.publicUrl) ? (
            <p>
              <Sentence
                text={words.connect.onlyHere(new URL(place.publicUrl).hostname)}
                setting={<code>PUBLIC_URL</code>}
              />
            </p>
          ) : (
            <div className="qr-line">
              <Suspense fallback={<span className="qr" />}>
                <QrCode text={place.publicUrl} label={words.connect.qr} />
              </Suspense>
              <p>{words.connect.scan}</p>
            </div>
          )}
        </Step>
      </ol>
      <details className="more">
        <summary>{words.connect.byHand}</summary>
        <p>{words.connect.byHandMore}</p>
        <Copy text={daemonCommands.register(place.publicUrl)} label={words.connect.registerCommand} />
        <Copy text={daemonCommands.start} label={words.connect.startCommand} />
      </details>
      <DeviceKeys />
    </Page>
  );
}

const keySeconds = 600;

/** Makes a registration key for one machine, so that the line registers it without a link. */
function ApproveNow({ onKey }: { onKey: (key: string) => void }) {
  const { client } = useRooms();
  const make = useRecentAction(async () => {
    onKey((await client.call('createDeviceKey', { body: { ttlSeconds: keySeconds, uses: 1 } })).key);
  });
  return (
    <form onSubmit={submitting(make.run)} className="stacked" method="post">
      {make.again && <PasswordAgain {...make} />}
      <Problem refusal={make.refusal} />
      <div className="actions start">
        <button type="submit" aria-disabled={make.busy}>
          {make.busy ? words.deviceKeys.making : words.connect.makeKey}
        </button>
      </div>
      {make.again && <ProvidersAgain returnTo="/devices/new" />}
    </form>
  );
}
