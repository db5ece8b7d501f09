/** `/devices/new`: how to connect a machine, and the moment in which it comes online. */
import { useState } from 'react';
import { Link } from 'wouter';
import { useRooms } from '../rooms.ts';
import { Copy } from '../ui/copy.tsx';
import { useDevices } from '../ui/device-list.ts';
import { Notice } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { Waiting } from '../ui/waiting.tsx';

export function NewDevice() {
  const { place } = useRooms();
  const devices = useDevices();
  const [sinceMs] = useState(() => Date.now());
  const [before, setBefore] = useState<ReadonlySet<string>>();
  const online = devices.kind === 'ready' ? devices.value.filter(({ status }) => status === 'online') : [];
  // What is online when the page opens is nothing new.
  if (before === undefined && devices.kind === 'ready') setBefore(new Set(online.map(({ id }) => id)));
  const arrived = before && online.find(({ id }) => !before.has(id));
  return (
    <Page title="Connect a machine">
      <p>An agent answers you from a machine of your own. Do this there, in the folder of the relay:</p>
      <ol className="steps">
        <li>
          <p>Register it, with the agent that is installed there. It shows a link; open that, and approve.</p>
          <Copy
            text={`npx relay-daemon register --server ${place.publicUrl} --agent auto`}
            label="the command that registers"
          />
        </li>
        <li>
          <p>Start it.</p>
          <Copy text="npx relay-daemon up" label="the command that starts it" />
          <p>
            Without a known agent it plays a built-in demonstration; <code>npx relay-daemon agents</code> lists the ones
            it knows.
          </p>
        </li>
      </ol>
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
              Start a conversation
            </Link>
          </p>
        </>
      ) : (
        <Waiting what="Waiting for a machine to come online …" sinceMs={sinceMs} />
      )}
      <p>
        The machine shows a code but no link? <Link href="/device">Enter the code</Link>
      </p>
    </Page>
  );
}
