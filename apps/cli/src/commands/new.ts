/** `relay new`: starts a session on a device with a first message. */
import type { Terminal } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import { findDevice, nameOf } from '../naming.ts';
import { isReplay } from '../relay.ts';
import { clockTime } from '../show/times.ts';
import { oneLine } from '../show/text.ts';
import { timeOf } from './at-time.ts';
import { choicesOf, confirmChoices } from './choices.ts';
import { contextOf } from './context.ts';
import { imagesOf } from './images.ts';
import { type SendingOptions, idempotencyKeyOf, messageOf, queueing } from './message.ts';
import { filesOf } from './sent-files.ts';
import { followTask } from './following.ts';

interface NewOptions extends SendingOptions {
  project?: string;
  title?: string;
  agent?: string;
}

export async function newCommand(
  typedDevice: string,
  typedMessage: string | undefined,
  options: NewOptions,
  terminal: Terminal,
): Promise<number> {
  const waiting = queueing(options);
  const notBefore = timeOf(options);
  if (options.atReset) throw usage('A new session has no usage limit to wait for. Choose a time with --at or --in.');
  if (notBefore !== undefined && options.watch) throw usage('A session with --at or --in takes no --watch.');
  const key = idempotencyKeyOf(options);
  const context = contextOf(options, terminal);
  const { relay, print } = context;
  const message = await messageOf(typedMessage, terminal);
  const images = await imagesOf(options);
  const device = await findDevice(relay, typedDevice);
  const settings = choicesOf(options);
  await confirmChoices(relay, device, options.agent, settings, options, terminal);
  const files = await filesOf(relay, device.id, options);
  const create = async () => {
    const { body, headers } = await relay.request('createSession', {
      body: {
        deviceId: device.id,
        message,
        ...(options.project === undefined ? {} : { projectPath: options.project }),
        ...(options.title === undefined ? {} : { title: options.title }),
        ...(options.agent === undefined ? {} : { agentType: options.agent }),
        ...images,
        ...files,
        ...(settings.length === 0 ? {} : { settings }),
        ...waiting,
        ...(notBefore === undefined ? {} : { notBefore }),
      },
      idempotencyKey: key,
    });
    const created = { ...body, replayed: isReplay(headers) };
    print({ ...(options.watch ? { type: 'created' } : {}), ...created }, () => {
      const where = `Session ${nameOf(created.id)} on ${oneLine(device.name)}. Task ${created.taskId}: ${created.lastTask?.state ?? (created.startsAt === undefined ? 'queued' : `later, at ${clockTime(created.startsAt)}`)}.\n`;
      const again = created.replayed
        ? 'This key was used before: the session exists already, and nothing was sent again.\n'
        : '';
      const away =
        device.status === 'offline' && !created.replayed ? 'The device is offline; the message waits for it.\n' : '';
      return `${where}${again}${away}`;
    });
    return created;
  };
  if (!options.watch) {
    await create();
    return exitCodes.ok;
  }
  return followTask(context, options, async () => {
    const { id: sessionId, taskId, message: userMessage, replayed } = await create();
    return { sessionId, taskId, message: userMessage, replayed };
  });
}
