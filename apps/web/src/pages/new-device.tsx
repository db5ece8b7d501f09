/** `/devices/new`: how to connect a machine. When it comes online the page leads on to its first session. */
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import type { Place } from '../place.ts';
import { useLiveState, useRooms } from '../rooms.ts';
import { useStartSession } from '../ui/address.ts';
import { Copy } from '../ui/copy.tsx';
import { daemonCommands } from '../ui/daemon-commands.ts';
import { useDevices } from '../ui/device-list.ts';
import { WorkingSign } from '../ui/mark.tsx';
import { Page } from '../ui/page.tsx';
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

/** Where the relay signs its own certificate, the shell trusts it from here on, and so do the commands below. */
const installCommand = ({ publicUrl, authority }: Pick<Place, 'publicUrl' | 'authority'>): string => {
  const fetched = `curl -fsSL ${publicUrl}/install.sh | sh`;
  if (!authority) return fetched;
  const file = '$HOME/relay-authority.crt';
  return [
    `curl -fsSo "${file}" ${authority.url}`,
    `echo "${authority.sha256}  ${file}" | $(command -v sha256sum || echo shasum -a 256) -c -`,
    `export CURL_CA_BUNDLE="${file}" NODE_EXTRA_CA_CERTS="${file}"`,
    fetched,
  ].join(' && ');
};

export function NewDevice() {
  const { place } = useRooms();
  const devices = useDevices();
  const isLive = useLiveState().kind === 'live';
  const startSession = useStartSession();
  const [before, setBefore] = useState<ReadonlySet<string>>();
  const online = devices.kind === 'ready' ? devices.value.filter(({ status }) => status === 'online') : [];
  // Machines that are online when the page opens are not new. While the live stream is away the list can be outdated.
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
          <Copy text={installCommand(place)} label={words.connect.runCommand} />
          <p>{words.connect.runMore}</p>
          {place.authority && <p>{words.connect.trusts}</p>}
        </Step>
        <Step n={2} title={words.connect.approve}>
          <p>
            <Sentence text={words.connect.approveMore} enter={<Link href="/device">{words.connect.enter}</Link>} />
          </p>
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
