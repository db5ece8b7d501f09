/** `relay send` and `relay answer`: a message into a session, at most once. */
import type { Session } from '@relay/protocol';
import { Failure, exitCodes, usage } from '../failure.ts';
import { findSession, findSessionId, nameOf } from '../naming.ts';
import { isReplay } from '../relay.ts';
import { promptText } from '../show/said.ts';
import type { Terminal } from '../terminal.ts';
import { type Context, contextOf } from './context.ts';
import { imagesOf } from './images.ts';
import { type SendingOptions, idempotencyKeyOf, messageOf, queueing } from './message.ts';
import { tell } from './telling.ts';

export async function sendCommand(
  typedSession: string,
  typedMessage: string | undefined,
  options: SendingOptions,
  terminal: Terminal,
): Promise<number> {
  queueing(options);
  idempotencyKeyOf(options);
  const context = contextOf(options, terminal);
  const content = await messageOf(typedMessage, terminal);
  return deliver(context, await findSessionId(context.relay, typedSession), content, options);
}

export interface AnswerOptions extends SendingOptions {
  option?: string;
}

/** Without a text it shows what is asked. A session that asks nothing gets nothing. */
export async function answerCommand(
  typedSession: string,
  typedText: string | undefined,
  options: AnswerOptions,
  terminal: Terminal,
): Promise<number> {
  if (typedText !== undefined && options.option !== undefined) throw usage('Give a text or --option, not both.');
  idempotencyKeyOf(options);
  const context = contextOf(options, terminal);
  const { id, status, prompt } = await findSession(context.relay, typedSession);
  if (status !== 'waiting' || !prompt) {
    throw new Failure(
      'NOT_WAITING',
      `The agent asks nothing in this session (it is ${status}). "relay send ${nameOf(id)}" says something anyway.`,
    );
  }
  if (options.option !== undefined) return deliver(context, id, labelOf(prompt, options.option), options);
  if (typedText !== undefined) return deliver(context, id, await messageOf(typedText, terminal), options);
  context.say({ sessionId: id, prompt }, () => `${promptText(prompt, id).trimStart()}\n`);
  return exitCodes.ok;
}

function labelOf({ options }: NonNullable<Session['prompt']>, typed: string): string {
  const option = /^\d+$/.test(typed) ? options[Number(typed) - 1] : undefined;
  if (option) return option.label;
  throw usage(
    options.length > 0
      ? `--option must be 1 to ${options.length}.`
      : 'There is nothing to choose from: answer with a text.',
  );
}

async function deliver(context: Context, sessionId: string, content: string, options: SendingOptions): Promise<number> {
  const { relay, say, terminal } = context;
  const images = await imagesOf(options);
  const send = async () => {
    const { body, headers } = await relay.request('sendMessage', {
      params: { id: sessionId },
      body: { content, ...images, ...queueing(options) },
      idempotencyKey: idempotencyKeyOf(options),
    });
    const sent = { ...body, replayed: isReplay(headers) };
    say({ ...(options.watch ? { type: 'sent' } : {}), ...sent }, () => {
      const again = sent.replayed ? ' It was sent before with this key; nothing was sent now.' : '';
      return `Sent to ${nameOf(sent.sessionId)}. Task ${sent.taskId}: ${sent.state}.${again}\n`;
    });
    return sent;
  };
  if (!options.watch) {
    const { sessionId: id } = await send();
    if (!context.json) await warnIfAway(context, id, terminal);
    return exitCodes.ok;
  }
  return tell(context, {
    begin: async () => {
      const { sessionId: id, taskId, message: said, replayed } = await send();
      return { sessionId: id, taskId, said, isNew: !replayed };
    },
    history: 0,
    output: options.output ?? false,
    once: true,
    heading: false,
  });
}

/** Sent it is, whatever comes of this. */
async function warnIfAway({ relay }: Context, sessionId: string, terminal: Terminal): Promise<void> {
  const { devices } = await relay.call('listDevices').catch(() => ({ devices: [] }));
  const device = devices.find(({ id }) => sessionId.startsWith(`${id}:`));
  if (device?.status === 'offline') terminal.err('The device is offline; the message waits for it.\n');
}
