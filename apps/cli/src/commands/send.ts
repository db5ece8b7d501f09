/** `relay send` and `relay answer`: send a message into a session, at most once. */
import { type AnswerPrompt, type MessageSetting, type Prompt, type SentMessage, parseSessionId } from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import { findSession, findSessionId, nameOf } from '../naming.ts';
import { type Relay, isReplay } from '../relay.ts';
import { clockTime } from '../show/times.ts';
import { promptText, questionsOf } from '../show/question.ts';
import { resetOf, timeOf } from './at-time.ts';
import { choicesOf, confirmDanger } from './choices.ts';
import { type Context, contextOf } from './context.ts';
import { fieldValuesOf } from './form-answer.ts';
import { imagesOf } from './images.ts';
import { type SendingOptions, deskChoiceOf, idempotencyKeyOf, messageOf, queueing } from './message.ts';
import { filesOf } from './sent-files.ts';
import { followTask } from './following.ts';

interface SendOptions extends SendingOptions {
  /** Send into the running turn. */
  now?: boolean;
}

export async function sendCommand(
  typedSession: string,
  typedMessage: string | undefined,
  options: SendOptions,
  terminal: Terminal,
): Promise<number> {
  queueing(options);
  const notBefore = timeOf(options);
  if ((notBefore !== undefined || options.atReset) && (options.now || options.watch))
    throw usage('A message with --at, --in or --at-reset takes neither --now nor --watch.');
  deskChoiceOf(options);
  idempotencyKeyOf(options);
  const context = contextOf(options, terminal);
  const content = await messageOf(typedMessage, terminal);
  const { relay } = context;
  const session = options.atReset ? await findSession(relay, typedSession) : undefined;
  const id = session?.id ?? (await findSessionId(relay, typedSession));
  const settings = choicesOf(options);
  if (settings.length > 0 && options.withoutAsking !== true) {
    const [current, { devices }] = await Promise.all([
      relay.call('readSettings', { params: { id }, query: { known: '1' } }),
      relay.call('listDevices'),
    ]);
    const machine = devices.find((one) => id.startsWith(`${one.id}:`))?.name ?? '';
    for (const choice of settings) await confirmDanger(current.settings, choice, machine, options, terminal);
  }
  const message = {
    content,
    ...(settings.length === 0 ? {} : { settings }),
    ...(options.now ? { deliver: 'now' as const } : {}),
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(session ? resetOf(session) : {}),
  };
  return deliver(context, await messageTo(relay, id, message, options), options);
}

interface AnswerOptions extends SendingOptions {
  option?: string;
  /** Values of a form, `name=value`. */
  field?: readonly string[];
  /** The question's id, or its first characters. */
  question?: string;
}

/**
 * Shows all open questions if no answer is given. A session without a question gets nothing, and an answer is bound to the id of the question
 * that this command read: no other question can receive it (rules, 5.1).
 */
export async function answerCommand(
  typedSession: string,
  typedText: string | undefined,
  options: AnswerOptions,
  terminal: Terminal,
): Promise<number> {
  if (options.file) throw usage('An answer takes no --file: send the files after it.');
  if (options.set) throw usage('An answer takes no --set: its turn keeps its settings.');
  if (timeOf(options) !== undefined || options.atReset)
    throw usage('An answer takes no --at, --in and --at-reset: it is sent now.');
  if ([typedText, options.option, options.field].filter((given) => given !== undefined).length > 1)
    throw usage('Give only one of a text, --option and --field.');
  idempotencyKeyOf(options);
  const context = contextOf(options, terminal);
  const session = await findSession(context.relay, typedSession);
  const { id, status } = session;
  const open = questionsOf(session);
  const answers = typedText !== undefined || options.option !== undefined || options.field !== undefined;
  if (answers && options.question === undefined && open.length > 1)
    throw usage(
      `${open.length} questions are open. Choose one with --question; "relay answer ${nameOf(id)}" shows them.`,
    );
  const prompt = questionOf(open, options.question);
  if (!prompt && options.question !== undefined) {
    throw new Failure(
      'PROMPT_SUPERSEDED',
      `This question is no longer open. "relay answer ${nameOf(id)}" shows the open questions.`,
    );
  }
  if (status !== 'waiting' || !prompt) {
    throw new Failure(
      'NOT_WAITING',
      `The agent has no open question in this session (it is ${status}). Use "relay send ${nameOf(id)}" to send a message.`,
    );
  }
  const { relay } = context;
  const bound = prompt.id === undefined ? {} : { answers: prompt.id };
  const { id: uuid, digest } = prompt;
  const asShown = digest === undefined ? {} : { digest };
  if (options.option !== undefined) {
    const option = optionOf(prompt, options.option);
    const isPlain = options.image === undefined && options.ttl === undefined && options.queue;
    if (uuid === undefined || option.id === undefined || !isPlain)
      return deliver(context, await messageTo(relay, id, { content: option.label, ...bound }, options), options);
    return deliver(context, choiceOf(relay, id, uuid, { option: option.id, ...asShown }, options), options);
  }
  if (options.field !== undefined) {
    if (uuid === undefined) throw usage('This question has no fields: answer with --option or a text.');
    const filled = { fields: fieldValuesOf(prompt, options.field), ...asShown };
    return deliver(context, choiceOf(relay, id, uuid, filled, options), options);
  }
  if (typedText !== undefined) {
    const content = await messageOf(typedText, terminal);
    return deliver(context, await messageTo(relay, id, { content, ...bound }, options), options);
  }
  const shown = options.question === undefined ? open : [prompt];
  context.print({ sessionId: id, prompt, prompts: shown }, () =>
    shown
      .map((one) => `${promptText(one, id, context.style, open)}\n`)
      .join('')
      .trimStart(),
  );
  return exitCodes.ok;
}

/** Returns the question whose id begins with `typed`; by default the oldest. @throws Failure BAD_USAGE if several match */
function questionOf(open: readonly Prompt[], typed: string | undefined): Prompt | undefined {
  if (typed === undefined) return open[0];
  const found = open.filter(({ id }) => id?.startsWith(typed.toLowerCase()));
  if (found.length > 1) throw usage('Several questions match this id. Type more of it.');
  return found[0];
}

function optionOf({ options }: Prompt, typed: string): Prompt['options'][number] {
  const option = /^\d+$/.test(typed) ? options[Number(typed) - 1] : undefined;
  if (option) return option;
  throw usage(
    options.length > 0
      ? `--option must be 1 to ${options.length}.`
      : 'This question has no choices: answer with a text.',
  );
}

const ways = {
  now: 'It goes into the running turn.',
  next: 'No turn runs, so it begins the next one.',
} as const;

const deviceOf = (sessionId: string): string => parseSessionId(sessionId)?.deviceId ?? '';

type Sent = SentMessage & { replayed: boolean };
type Send = () => Promise<Sent>;

/** Sends a message, bound to the question that it answers, if any. Reads the images and sends the files first. */
async function messageTo(
  relay: Relay,
  id: string,
  message: {
    content: string;
    answers?: string;
    settings?: MessageSetting[];
    deliver?: 'now';
    notBefore?: string;
    because?: 'limit';
  },
  options: SendingOptions,
): Promise<Send> {
  const body = {
    ...message,
    ...(await imagesOf(options)),
    ...(await filesOf(relay, deviceOf(id), options)),
    ...queueing(options),
    ...deskChoiceOf(options),
  };
  return async () => {
    const sent = await relay.request('sendMessage', {
      params: { id },
      body,
      idempotencyKey: idempotencyKeyOf(options),
    });
    return { ...sent.body, replayed: isReplay(sent.headers) };
  };
}

/** Sends the chosen option of one question. */
function choiceOf(relay: Relay, id: string, uuid: string, body: AnswerPrompt, options: SendingOptions): Send {
  return async () => {
    const idempotencyKey = idempotencyKeyOf(options);
    const answer = await relay.request('answerPrompt', { params: { id, uuid }, body, idempotencyKey });
    return { ...answer.body, state: 'queued', replayed: isReplay(answer.headers) };
  };
}

async function deliver(context: Context, request: Send, options: SendingOptions): Promise<number> {
  const { print, terminal } = context;
  const send = async () => {
    const sent = await request();
    print({ ...(options.watch ? { type: 'sent' } : {}), ...sent }, () => {
      const again = sent.replayed ? ' This key was used before: nothing was sent again.' : '';
      const way = sent.deliver === undefined ? '' : ` ${ways[sent.deliver]}`;
      if (sent.state === 'later')
        return `${nameOf(sent.sessionId)} gets it at ${clockTime(sent.message.timestamp)}. Task ${sent.taskId}: later.${again}\n`;
      return `Sent to ${nameOf(sent.sessionId)}. Task ${sent.taskId}: ${sent.state}.${way}${again}\n`;
    });
    return sent;
  };
  if (!options.watch) {
    const { sessionId: id } = await send();
    if (!context.json) await warnIfAway(context, id, terminal);
    return exitCodes.ok;
  }
  return followTask(context, options, send);
}

/** Only warns: the message was sent, even if this check fails. */
async function warnIfAway({ relay }: Context, sessionId: string, terminal: Terminal): Promise<void> {
  const { devices } = await relay.call('listDevices').catch(() => ({ devices: [] }));
  const device = devices.find(({ id }) => sessionId.startsWith(`${id}:`));
  if (device?.status === 'offline') terminal.err('The device is offline; the message waits for it.\n');
}
