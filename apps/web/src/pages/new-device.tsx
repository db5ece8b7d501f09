/** `/devices/new`: how to connect a machine. When it comes online the page leads on to its first session. */
import { type ReactNode, Suspense, lazy, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useRooms } from '../rooms.ts';
import { useStartSession } from '../ui/address.ts';
import { Copy } from '../ui/copy.tsx';
import { daemonCommands } from '../ui/daemon-commands.ts';
import { useDevices } from '../ui/device-list.ts';
import { WorkingSign } from '../ui/mark.tsx';
import { Page } from '../ui/page.tsx';

const QrCode = lazy(() => import('../ui/qr-code.tsx'));

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

/** Whether a phone that is told this address would look for the relay on itself. */
const isLocal = (url: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

export function NewDevice() {
  const { place } = useRooms();
  const devices = useDevices();
  const startSession = useStartSession();
  const [before, setBefore] = useState<ReadonlySet<string>>();
  const online = devices.kind === 'ready' ? devices.value.filter(({ status }) => status === 'online') : [];
  // Machines that are online when the page opens are not new.
  if (before === undefined && devices.kind === 'ready') setBefore(new Set(online.map(({ id }) => id)));
  const arrived = before && online.find(({ id }) => !before.has(id))?.id;
  useEffect(() => {
    if (arrived !== undefined) startSession(arrived);
  }, [arrived]);
  const isFirst = devices.kind === 'ready' && devices.value.length === 0;
  return (
    <Page
      title={isFirst ? 'Connect your first machine' : 'Connect a machine'}
      lead="Agents run on your own computer, with your files and your keys. Relay only carries the conversation."
    >
      <ol className="steps">
        <Step n={1} title="Run this on the machine with your code">
          <Copy text={daemonCommands.install(place.publicUrl)} label="the command that installs" />
          <p>For macOS, Linux and WSL, with Node 20.19 or newer. It installs relay-daemon for your user alone.</p>
        </Step>
        <Step n={2} title="Connect it to your account">
          <Copy text={daemonCommands.register(place.publicUrl)} label="the command that registers" />
          <p>
            It shows a link and a code. Open the link and check that both codes match. Have a code?{' '}
            <Link href="/device">Enter it</Link>
          </p>
        </Step>
        <Step n={3} title="Start it">
          <Copy text={daemonCommands.start} label="the command that starts it" />
          <p>It runs the agent you have installed. If there is none, it starts a demo agent you can try.</p>
          <div className="note" role="status">
            <WorkingSign />
            <span>
              <strong>Waiting for your machine.</strong> This page updates by itself.
            </span>
          </div>
        </Step>
        <Step n={4} title="Open Relay on your phone" className="for-a-phone">
          {isLocal(place.publicUrl) ? (
            <p>
              {new URL(place.publicUrl).hostname} means this computer alone, so a phone can’t open it. To use Relay on
              your phone, start it with <code>PUBLIC_URL</code> set to an address that your phone reaches.
            </p>
          ) : (
            <div className="qr-line">
              <Suspense fallback={<span className="qr" />}>
                <QrCode text={place.publicUrl} label="QR code of this relay’s address" />
              </Suspense>
              <p>Scan it to open Relay on your phone, and sign in there. You can answer your agents from anywhere.</p>
            </div>
          )}
        </Step>
      </ol>
    </Page>
  );
}
