/** `/sessions/new`: the first message, which machine, and where on it. */
import { type KeyboardEvent, Suspense, useId, useRef, useState } from 'react';
import { Check, Laptop } from '../ui/icons.tsx';
import type { Device, MessageSetting } from '@relay/protocol';
import { Link, useLocation } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { sendingTimeout } from '../api/bounds.ts';
import { loadWords, words } from '../catalogue.ts';
import { AttachedImages, ImagePicker, useImages } from '../conversation/images.tsx';
import { useDraft } from '../conversation/use-draft.ts';
import { FileDoor, useInlet } from '../files/door.tsx';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { sessionPath, useQuery } from '../ui/address.ts';
import { agentsOf, nameOfAgent } from '../ui/agents.ts';
import { productName } from './product-name.ts';
import { daemonCommands } from '../ui/daemon-commands.ts';
import { distinct, onlineFirst, useDevices } from '../ui/device-list.ts';
import { Loaded } from '../ui/loaded.tsx';
import { loadedLater } from '../ui/loaded-later.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { useSendingKey } from '../ui/sending.ts';
import { Sentence } from '../ui/sentence.tsx';
import { Submit } from '../ui/submit.tsx';
import { FolderField } from './folder-field.tsx';
import { firstMachine, readLastChoice, rememberChoice } from './last-choice.ts';
import { StartLater } from './start-later.tsx';

const Controls = loadedLater(
  async () => (await Promise.all([import('./new-session-controls.tsx'), loadWords('controls')]))[0].NewSessionControls,
);

export function NewSession() {
  const devices = useDevices();
  return (
    <Page title={words.list.newSession} back={{ path: '/sessions', name: words.start.back }}>
      <Loaded of={devices} what={words.machines.loading}>
        {(all) =>
          all.length === 0 ? (
            <p>
              <Link href="/devices/new" className="button primary">
                {words.start.connectFirst}
              </Link>
            </p>
          ) : (
            <Form devices={onlineFirst(distinct(all))} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Form({ devices }: { devices: Device[] }) {
  const { client } = useRooms();
  const [, navigate] = useLocation();
  const query = useQuery();
  const wanted = query.get('device');
  // Another app shares a text with the pages, or an address with its title.
  const shared = ['title', 'text', 'url'].flatMap((name) => query.get(name) ?? []).join('\n');
  // The page that waited for this machine leads here by itself.
  const state = useHistoryState<{ hasArrived?: boolean; message?: unknown } | null>();
  const hasArrived = state?.hasArrived;
  const [last] = useState(readLastChoice);
  const [chosen, setChosen] = useState(() => wanted ?? firstMachine(devices, last.device)?.id);
  const [chosenAgents, setChosenAgents] = useState(last.agents);
  const [folders, setFolders] = useState(last.folders);
  // The palette opens this page with a text, which stays in the history, as a shared text stays in the address: its draft is
  // separate.
  const [given] = useState(typeof state?.message === 'string' ? state.message : shared);
  const [message, setMessage, forgetMessage] = useDraft(`new ${given}`, given);
  const key = useSendingKey();
  const messageId = useId();
  const device = devices.find(({ id }) => id === chosen) ?? devices[0]!;
  const projectPath = folders[device.id] ?? '';
  const agents = agentsOf(device);
  const agent = agents.find(({ agentType }) => agentType === chosenAgents[device.id]) ?? agents[0]!;
  const images = useImages();
  const picker = useRef<HTMLInputElement>(null);
  const { files, takes, takesFiles, drop, paste } = useInlet(device, images);
  const [above, setAbove] = useState<HTMLElement | null>(null);
  const [settings, setSettings] = useState<readonly MessageSetting[]>([]);
  const hasControls = device.capabilities.includes('controls');
  const start = useAction(async (notBefore?: string) => {
    const attached = takes ? images.all : [];
    const body = {
      deviceId: device.id,
      message,
      ...(agent === agents[0] ? {} : { agentType: agent.agentType }),
      ...(projectPath.trim() === '' ? {} : { projectPath: projectPath.trim() }),
      ...(notBefore === undefined ? {} : { notBefore }),
      ...(hasControls && settings.length > 0 ? { settings: [...settings] } : {}),
    };
    const fileIds = (await files.current?.ready()) ?? [];
    const what = JSON.stringify([body, fileIds, attached.map(({ previewUrl }) => previewUrl)]);
    const dataUrls = attached.map(({ dataUrl }) => dataUrl);
    const { id, message: first } = await client.call('createSession', {
      body: {
        ...body,
        ...(dataUrls.length > 0 ? { images: dataUrls } : {}),
        ...(fileIds.length > 0 ? { files: fileIds } : {}),
      },
      idempotencyKey: key.of(what),
      ...sendingTimeout(dataUrls),
    });
    key.done();
    files.current?.sent(fileIds);
    forgetMessage();
    rememberChoice(device.id, agent.agentType, projectPath.trim());
    // Sessions started here are watched; if watching fails, the session continues anyway.
    client.call('watch', { body: { sessionId: id } }).catch(() => undefined);
    navigate(sessionPath(id), { replace: true, state: notBefore === undefined ? { first } : {} });
  });
  const submit = submitting(() => message.trim() !== '' && start.run());
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
  };
  return (
    <form onSubmit={submit} {...drop}>
      {hasArrived && device.id === wanted && device.status === 'online' && (
        <Notice kind="good">
          <Sentence text={words.start.isOnline} name={<strong>{device.name}</strong>} />
        </Notice>
      )}
      <div className="field">
        <label htmlFor={messageId}>{words.start.what(nameOfAgent(agent.agentType, device))}</label>
        <textarea
          id={messageId}
          className="big"
          rows={5}
          required
          value={message}
          onChange={({ target }) => setMessage(target.value)}
          onKeyDown={onKeyDown}
          onPaste={paste}
        />
      </div>
      {takes && <AttachedImages images={images} onRemoved={() => picker.current?.focus()} />}
      {takesFiles && <div ref={setAbove} />}
      <Machines devices={devices} chosen={device.id} onChosen={setChosen} />
      {agents.length > 1 && (
        <fieldset className="field">
          <legend>{words.machine.agent}</legend>
          <div className="segments">
            {agents.map((one) => (
              <label key={one.agentType} className="choice">
                <input
                  type="radio"
                  name="agent"
                  checked={one === agent}
                  onChange={() => setChosenAgents({ ...chosenAgents, [device.id]: one.agentType })}
                />
                {productName(one)}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {hasControls && (
        <Suspense>
          <Controls key={`${device.id} ${agent.agentType}`} device={device} agent={agent} onSettings={setSettings} />
        </Suspense>
      )}
      {device.status === 'offline' && (
        <Notice>
          <Sentence text={words.start.offline} name={device.name} command={<code>{daemonCommands.start}</code>} />
        </Notice>
      )}
      <FolderField
        device={device}
        value={projectPath}
        onValue={(path) => setFolders({ ...folders, [device.id]: path })}
      />
      <Problem refusal={start.refusal} />
      <div className="actions send">
        {takesFiles && <FileDoor draft="new" {...{ device, images, files, above, setText: setMessage }} />}
        {takes && !takesFiles && <ImagePicker images={images} input={picker} />}
        {images.all.length === 0 && (
          <StartLater
            place={{ device, agentType: agent.agentType, projectPath: projectPath.trim() }}
            {...{ message, start }}
            onRepeated={forgetMessage}
          />
        )}
        <Submit busy={start.busy} busyText={words.start.starting}>
          {words.start.start}
        </Submit>
      </div>
    </form>
  );
}

interface MachinesProps {
  devices: readonly Device[];
  chosen: string;
  onChosen: (id: string) => void;
}

const Machines = ({ devices, chosen, onChosen }: MachinesProps) => (
  <fieldset className="field">
    <legend>{words.list.machine}</legend>
    <div className="cards2">
      {devices.map((one) => (
        <label key={one.id} className="pick">
          <input type="radio" name="machine" checked={one.id === chosen} onChange={() => onChosen(one.id)} />
          <Laptop className="i" aria-hidden />
          <span className="grow">
            <b>{one.name}</b>
            <span className="d">
              {one.status === 'online' ? words.common.online : words.common.offline} ·{' '}
              {agentsOf(one).map(productName).join(', ')}
            </span>
          </span>
          <Check className="i check" aria-hidden />
        </label>
      ))}
    </div>
  </fieldset>
);
