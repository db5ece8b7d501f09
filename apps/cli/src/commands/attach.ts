/** `relay attach`: opens a session in a terminal. The session stays on its machine, and leaving stops nothing. */
import { hostname } from 'node:os';
import type { Prompt, Session } from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { createEditor } from '../attach/editor.ts';
import { deskWays, footerOf, isWorking, mostSubjectLines, subjectLines } from '../attach/footer.ts';
import { createScreen } from '../attach/screen.ts';
import { createSending } from '../attach/sending.ts';
import { exitCodes, usage } from '../failure.ts';
import { untilInterrupted } from '../interruption.ts';
import { type SessionEvent, follow } from '../follow.ts';
import { findSession, nameOf } from '../naming.ts';
import { patient } from '../patience.ts';
import { type Relay, allSessions } from '../relay.ts';
import { createItemsView } from '../show/items.ts';
import { questionsOf } from '../show/question.ts';
import { oneLine } from '../show/text.ts';
import { type Context, contextOf } from './context.ts';
import { compare, comparedText } from './diff.ts';
import type { ReadingOptions } from './messages.ts';

interface AttachOptions extends ReadingOptions {
  readOnly?: boolean;
}

const shownItems = 40;
const againMs = 2000;
const choicesShown = 9;
const commands = ['/queue', '/stop', '/desk', '/take', '/help', '/diff'] as const;
const help =
  'Alt-Enter begins a new line. 1 to 9 answer a question. /diff shows the changes of the agent, /diff with a path those of one file, /queue lists waiting messages, /stop stops the agent, /desk frees the session and prints its command, /take closes the terminal that has it. Other words with / go to the agent.';

export async function attachCommand(
  typed: string | undefined,
  options: AttachOptions,
  terminal: Terminal,
): Promise<number> {
  if (!terminal.outIsScreen || !terminal.inIsScreen) throw usage('relay attach needs a terminal. Use relay tail.');
  const context = contextOf(options, terminal);
  const session = typed === undefined ? await chosenHere(context) : await findSession(context.relay, typed);
  await attach(context, session, options);
  return exitCodes.ok;
}

/** Returns the newest session of this folder on this machine, else lets the user choose from a list. */
async function chosenHere({ relay, terminal }: Context): Promise<Session> {
  const { devices } = await relay.call('listDevices');
  const mine = new Set(devices.filter((device) => device.hostname === hostname()).map(({ id }) => id));
  const sessions = await allSessions(relay, {});
  const here = sessions.find(({ deviceId, projectPath }) => mine.has(deviceId) && projectPath === process.cwd());
  if (here) return here;
  const shown = sessions.slice(0, choicesShown);
  if (shown.length === 0) throw new Failure('NO_SESSION', 'There is no session yet. Start one with "relay new".');
  terminal.out(shown.map(({ title, id }, index) => `${index + 1}) ${oneLine(title) || nameOf(id)}\n`).join(''));
  const found = shown[Number(await terminal.ask('Session: ')) - 1];
  if (!found) throw usage('Choose a session by its number.');
  return found;
}

/** Other text with a slash goes to the agent. */
const isCommand = (text: string): boolean => commands.some((name) => name === text) || text.startsWith('/diff ');

/** A lasting choice needs a confirmation. */
const isLasting = ({ kind }: Prompt['options'][number]) => kind === 'allow_always';

function attach(context: Context, first: Session, { readOnly = false, thoughts = false, full = false }: AttachOptions) {
  const { relay, terminal, style } = context;
  const editor = createEditor();
  const items = createItemsView({
    ...{ style, thoughts, full },
    get columns() {
      return terminal.columns;
    },
  });
  const leaving = new AbortController();
  let session: Session | undefined;
  let note = '';
  let lostUntilMs: number | undefined;
  let armedUntilMs = 0;
  let choosing: string | undefined;
  let confirming: Prompt['options'][number] | undefined;
  const idOf = () => session?.id ?? first.id;

  const screen = createScreen(terminal, () =>
    footerOf(
      {
        session,
        note,
        readOnly,
        lostForMs: lostUntilMs === undefined ? undefined : Math.max(0, lostUntilMs - Date.now()),
        choosing: choosing !== undefined,
        text: editor.text(),
        cursor: editor.cursor(),
      },
      terminal.columns,
      style,
    ),
  );
  const print = (text: string) => {
    note = oneLine(text);
    screen.changed();
  };
  const { send, answer } = createSending({ relay, editor, idOf, print, signal: leaving.signal });
  const prompt = () => (session?.status === 'waiting' ? questionsOf(session)[0] : undefined);

  const run = async (typed: string): Promise<void> => {
    const params = { id: idOf() };
    const [command, path] = typed.split(/\s+(.*)/);
    if (command === '/help') return print(help);
    if (command === '/diff') {
      print('Comparing the files…');
      const compared = await compare(relay, params.id, { scope: 'uncommitted', path });
      screen.print(comparedText(compared, style));
      return print(compared.changes.length === 0 ? 'No changes since the last commit.' : '');
    }
    if (command === '/stop') return void (await relay.call('cancelSession', { params, body: {} }));
    if (command === '/take') return print((await relay.call('releaseSession', { params, body: {} })).result);
    if (command === '/desk') {
      const { free, why, command: line = '' } = await relay.call('letGo', { params });
      return print(free ? line : `The session is not free: ${why ?? ''}`);
    }
    const { tasks } = await relay.call('readQueue', { params });
    print(tasks.length === 0 ? 'No messages are queued.' : tasks.map(({ content }) => oneLine(content)).join(' · '));
  };

  const enter = (): unknown => {
    const text = editor.text();
    if (text.trim() === '' || readOnly) return undefined;
    editor.set('');
    if (confirming) {
      const option = confirming;
      const question = prompt();
      confirming = undefined;
      return text.trim() === 'yes' && question ? answer(question, option) : print('Not allowed.');
    }
    if (isCommand(text.trim()))
      return run(text.trim()).catch((error: unknown) => print(error instanceof Error ? error.message : 'It failed.'));
    const question = prompt();
    if (question) return question.text === false ? print('Choose a number.') : send(text, undefined, question.id);
    if (!session?.held) return send(text);
    choosing = text;
    return print('');
  };
  const digit = (number: number): unknown => {
    if (readOnly) return undefined;
    if (choosing !== undefined) {
      const content = choosing;
      choosing = undefined;
      if (number === 1) return send(content, 'take');
      if (number === 2) return send(content, 'wait');
      editor.set(content);
      return print(deskWays[2]);
    }
    const question = prompt();
    const option = question?.options[number - 1];
    if (!question || !option) {
      editor.set(String(number));
      return screen.changed();
    }
    if (!isLasting(option)) return answer(question, option);
    confirming = option;
    return print('Type yes to allow:');
  };
  const interrupt = (): unknown => {
    if (editor.text() !== '') return editor.set('');
    if (!session || !isWorking(session)) return print('Ctrl-D leaves.');
    if (Date.now() > armedUntilMs) {
      armedUntilMs = Date.now() + againMs;
      return print('Ctrl-C again stops the agent');
    }
    return relay.call('cancelSession', { params: { id: idOf() }, body: { which: 'running' } }).catch(() => undefined);
  };

  const onText = (input: string) => {
    for (const key of editor.take(input)) {
      if (key.kind === 'enter') void enter();
      else if (key.kind === 'digit') void digit(key.digit);
      else if (key.kind === 'interrupt') void interrupt();
      else if (key.kind === 'leave') leaving.abort();
      else editor.set(commands.find((name) => name.startsWith(editor.text())) ?? editor.text());
    }
    screen.changed();
  };
  const updated = (now: Session) => {
    const before = prompt()?.id;
    session = now;
    const question = prompt();
    const lines = question && question.id !== before ? subjectLines(question) : [];
    // A long subject is printed in full, so that the user can read it before answering.
    if (lines.length > mostSubjectLines) screen.print(lines.map((line) => `  ${line}\n`).join(''));
  };
  const show = (event: SessionEvent) => {
    if (event.type === 'item') screen.print(items.item(event.item));
    else if (event.type === 'new_message') screen.print(items.message(event.message));
    else if (event.type === 'session_update') updated(event.session);
    else if (event.type === 'session_removed' || event.type === 'device_removed') leaving.abort();
    else if (event.type === 'history_error') note = oneLine(event.error);
    else if (event.type === 'connection') lostUntilMs = event.state === 'lost' ? Date.now() + event.waitMs : undefined;
    screen.changed();
  };

  const facts = [oneLine(first.title) || nameOf(first.id), first.agentType, oneLine(first.projectPath)];
  screen.print(`${style('bold', facts.filter((fact) => fact !== '').join(' · '))}\n`);
  const release = terminal.keys(onText, () => screen.changed());
  terminal.out(`${terminal.mark}[?2004h`);
  return untilInterrupted((interrupted) => {
    const signal = AbortSignal.any([interrupted, leaving.signal]);
    return watch(patient(relay, show, signal), signal, first.id, show);
  }).finally(() => {
    leaving.abort();
    screen.close();
    terminal.out(`${terminal.mark}[?2004l`);
    release();
  });
}

async function watch(
  relay: Relay,
  signal: AbortSignal,
  sessionId: string,
  show: (event: SessionEvent) => void,
): Promise<void> {
  const wish = { begin: () => Promise.resolve({ sessionId }), history: shownItems, output: false, once: false };
  try {
    for await (const event of follow({ relay, signal, ...wish })) show(event);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
