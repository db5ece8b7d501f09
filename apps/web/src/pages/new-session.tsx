/** `/sessions/new`: which machine, where on it, and the first message. */
import { type FormEvent, useId, useState } from 'react';
import type { Device } from '@relay/protocol';
import { Link, useLocation } from 'wouter';
import { sendingTimeout } from '../api/bounds.ts';
import { ImagePicker, pasting, takesImages, useImages } from '../conversation/images.tsx';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { sessionPath, useQuery } from '../ui/address.ts';
import { onlineFirst, useDevices } from '../ui/device-list.ts';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { useSendingKey } from '../ui/sending.ts';
import { Submit } from '../ui/submit.tsx';

export function NewSession() {
  const devices = useDevices();
  return (
    <Page title="New session" narrow>
      <Loaded of={devices} what="Loading your devices …">
        {(all) =>
          all.length === 0 ? (
            <>
              <p>There is no machine yet that could answer.</p>
              <p>
                <Link href="/devices/new" className="button primary">
                  Connect a machine
                </Link>
              </p>
            </>
          ) : (
            <Form devices={onlineFirst(all)} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Form({ devices }: { devices: Device[] }) {
  const { client } = useRooms();
  const [, navigate] = useLocation();
  const wanted = useQuery().get('device');
  const [chosen, setChosen] = useState(wanted);
  const [projectPath, setProjectPath] = useState('');
  const [message, setMessage] = useState('');
  const key = useSendingKey();
  const ids = { device: useId(), message: useId() };
  const device = devices.find(({ id }) => id === chosen) ?? devices[0]!;
  const images = useImages();
  const takes = takesImages(device);
  const start = useAction(async () => {
    const attached = takes ? images.all : [];
    const body = {
      deviceId: device.id,
      message,
      ...(projectPath.trim() === '' ? {} : { projectPath: projectPath.trim() }),
    };
    const what = JSON.stringify([body, attached.map(({ previewUrl }) => previewUrl)]);
    const dataUrls = attached.map(({ dataUrl }) => dataUrl);
    const { id, message: first } = await client.call('createSession', {
      body: dataUrls.length > 0 ? { ...body, images: dataUrls } : body,
      idempotencyKey: key.of(what),
      ...sendingTimeout(dataUrls),
    });
    key.done();
    navigate(sessionPath(id), { replace: true, state: { first } });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (message.trim() !== '') void start.run();
  };
  return (
    <form onSubmit={submit}>
      <div className="field">
        <label htmlFor={ids.device}>Device</label>
        <select id={ids.device} value={device.id} onChange={({ target }) => setChosen(target.value)}>
          {devices.map(({ id, name, agentType, status }) => (
            <option key={id} value={id}>
              {name} · {agentType} · {status}
            </option>
          ))}
        </select>
      </div>
      {device.status === 'offline' && (
        <Notice>
          {device.name} is offline. Your message waits for it, a quarter of an hour at most; start its daemon:{' '}
          <code>npx relay-daemon up</code>
        </Notice>
      )}
      <div className="field">
        <label htmlFor={ids.message}>First message</label>
        <textarea
          id={ids.message}
          rows={5}
          required
          value={message}
          onChange={({ target }) => setMessage(target.value)}
          onPaste={takes ? pasting(images) : undefined}
        />
      </div>
      {takes && <ImagePicker images={images} />}
      <Field
        label="Folder on the machine (optional)"
        hint="Where the agent works, such as /home/ada/garden."
        name="project-path"
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        maxLength={4096}
        value={projectPath}
        onValue={setProjectPath}
      />
      <Problem refusal={start.refusal} />
      <Submit busy={start.busy} busyText="Starting …">
        Start
      </Submit>
    </form>
  );
}
