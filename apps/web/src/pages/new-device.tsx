/** `/devices/new`: how to connect a machine, and the moment in which it comes online. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { useRooms } from '../rooms.ts';
import { Copy } from '../ui/copy.tsx';
import { useDevices } from '../ui/device-list.ts';
import { WorkingSign } from '../ui/mark.tsx';
import { Notice } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';

const Step = ({ n, title, children }: { n: number; title: string; children: ReactNode }) => (
  <li className="step">
    <span className="n" aria-hidden="true">
      {n}
    </span>
    <div className="bd">
      <h2>{title}</h2>
      {children}
    </div>
  </li>
);

export function NewDevice() {
  const { place } = useRooms();
  const devices = useDevices();
  const [before, setBefore] = useState<ReadonlySet<string>>();
  const online = devices.kind === 'ready' ? devices.value.filter(({ status }) => status === 'online') : [];
  // What is online when the page opens is nothing new.
  if (before === undefined && devices.kind === 'ready') setBefore(new Set(online.map(({ id }) => id)));
  const arrived = before && online.find(({ id }) => !before.has(id));
  const isFirst = devices.kind === 'ready' && devices.value.length === 0;
  return (
    <Page
      title={isFirst ? 'Connect your first machine' : 'Connect a machine'}
      lead="Agents run on your own computer, with your files and your keys. Relay only carries the conversation."
    >
      <ol className="steps">
        <Step n={1} title="Run this on the machine with your code">
          <Copy
            text={`npx relay-daemon register --server ${place.publicUrl} --agent auto`}
            label="the command that registers"
          />
          <p>In the folder of the relay, with Node 20 or newer. It shows a link and a code.</p>
        </Step>
        <Step n={2} title="Approve it here">
          <p>
            Open the link and check that both codes match. Have a code? <Link href="/device">Enter it</Link>
          </p>
        </Step>
        <Step n={3} title="Start it">
          <Copy text="npx relay-daemon up" label="the command that starts it" />
          <p>It finds the agents you have installed. If there are none, it starts a demo agent you can try.</p>
          {arrived ? (
            <>
              <Notice kind="good">
                <strong>{arrived.name}</strong> is online.
              </Notice>
              <p>
                <Link
                  href={`/sessions/new?${new URLSearchParams({ device: arrived.id }).toString()}`}
                  className="button primary"
                >
                  Start a session
                </Link>
              </p>
            </>
          ) : (
            <div className="note" role="status">
              <WorkingSign />
              <span>
                <strong>Waiting for your machine.</strong> This page updates by itself.
              </span>
            </div>
          )}
        </Step>
      </ol>
    </Page>
  );
}
