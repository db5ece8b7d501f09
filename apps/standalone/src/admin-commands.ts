/**
 * The commands of `relay-admin`: their arguments, effects and output. They run in the relay, or in the program while no
 * relay runs.
 */
import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { rotatePushKey } from '@relay/api';
import {
  type AdminDeps,
  type DiagnosticDeps,
  devices,
  doctor,
  drain,
  queues,
  redis,
  setupLink,
  signInElsewhere,
  status,
  takeRedisHere,
} from './admin-operations.ts';
import { audit, recorded } from './admin-audit.ts';
import { find } from './admin-find.ts';
import type { CommandOutcome } from './admin-socket.ts';
import { Refused } from './refused.ts';

export { Refused };
export type { AdminDeps, DiagnosticDeps };

export const usage = `Usage: relay-admin <command> [options]

Accounts, backups, keys and diagnostics of this relay. Run it on the machine of the relay and as the same user. It reads
the same environment as the relay (DATA_DIR, or DATABASE_URL and REDIS_URL), and works whether the relay runs or not.

Commands:
  people                    everyone who has an account
  reset-password <email>    sets a new password, prints it once, removes passkeys and signs the person out everywhere; keeps the
                            second step
  reset-second-factor <email>
                            removes the second step at sign-in of a person who lost their app and recovery codes
  invite                    prints a link for one new account; it expires after a week
  disable <email>           signs the person out everywhere and refuses to sign them in; their machines stay
  enable <email>            lets them sign in again
  remove <email or id> --yes
                            deletes a person with their devices and sessions; this cannot be undone. The id, from the log, also
                            names a person of another sign-in service
  remove-device <id> --yes  disconnects a machine and refuses its credential; its sessions leave the relay, not the machine
  rotate-push-key           makes a new key for push services; the old key works for its browsers for 90 more days
  setup-link                prints the link for the first account again
  status                    release, database, backplane, numbers of people and devices, and queued work
  devices [email]           devices of all people or of one person, last seen first (100)
  find <email or id>        the records of a person, session, task, device or request, without conversation text: devices, connections
                            with close reasons, queue, schedules, outcomes, deliveries, audit; for a request, the queries for logs and traces
  audit                     the newest 100 actions of operators: each command that changes something or shows a person
  queues                    devices with queued messages, oldest first (100)
  drain [gateway] [--over <minutes>]
                            lists the gateways and their devices; with the name of a gateway or its pod, that gateway accepts
                            no more daemons and closes its connections within that time (10 minutes); delete the pod afterwards
  redis                     the contents of Redis: records by kind, memory, the largest keys; from a sample, without blocking
  take-redis --yes          claims Redis for this installation, after another installation has left it; a refused start tells you
                            when you need it
  doctor                    checks the dependencies of the relay, with advice for each problem; exits with 1 if it finds one
  backup <folder>           copies the data folder to a new folder, which works as DATA_DIR

Options:
  --json      one JSON object per line
  --over      with drain
  --as        your name in the audit; without it, user and host of this system
  --version   prints the version
  --help      prints this
`;

interface Options {
  json?: boolean | undefined;
  yes?: boolean | undefined;
  over?: string | undefined;
}

/** Whether a command leaves an entry in the audit: always, or when it names something. */
type Records = 'always' | 'when it names something';

/**
 * `run` gets the command's argument, or '' without one, and returns the lines to print, with an exit code if it is not
 * 0.
 */
interface Command<Deps> {
  takes: 'nothing' | 'email' | 'device' | 'folder' | 'email or id' | 'maybe an email' | 'maybe a gateway';
  records?: Records;
  run: (deps: Deps, word: string, options: Options) => Promise<string[] | CommandOutcome>;
}

export interface AdminRequest {
  command: string;
  word: string;
  options: Options;
  /** The operator, for the audit. */
  by: string;
}

const noSuch = (email: string) => new Refused(`No account has the address ${email}. "relay-admin people" lists them.`);

const day = (at: Date) => at.toISOString().slice(0, 10);

async function setDisabled({ people }: AdminDeps, email: string, disabled: boolean, { json }: Options) {
  if (!(await people.setDisabled(email, disabled))) throw noSuch(email);
  if (json) return [JSON.stringify({ email, disabled })];
  return [
    disabled
      ? `${email} is signed out everywhere and cannot sign in. "relay-admin enable ${email}" undoes it.`
      : `${email} can sign in again.`,
  ];
}

/** These work as far as they can while PostgreSQL or Redis is away. */
const diagnostics: Readonly<Record<string, Command<DiagnosticDeps>>> = {
  status: { takes: 'nothing', run: status },
  devices: { takes: 'maybe an email', records: 'when it names something', run: devices },
  find: { takes: 'email or id', records: 'always', run: find },
  audit: { takes: 'nothing', run: audit },
  queues: { takes: 'nothing', run: queues },
  drain: { takes: 'maybe a gateway', records: 'when it names something', run: drain },
  redis: { takes: 'nothing', run: redis },
  'take-redis': { takes: 'nothing', records: 'always', run: takeRedisHere },
  doctor: { takes: 'nothing', run: doctor },
};

const commands: Readonly<Record<string, Command<AdminDeps>>> = {
  ...diagnostics,
  people: {
    takes: 'nothing',
    records: 'always',
    run: async ({ people, config }, _, { json }) => {
      const all = await people.list();
      const elsewhere = signInElsewhere(config);
      if (all.length === 0 && !json)
        return [elsewhere ?? 'No accounts yet. Start the relay: it prints the link for the first one.'];
      return all.map(({ lastSignInAt = null, disabledAt = null, ...person }) =>
        json
          ? JSON.stringify({ ...person, lastSignInAt, disabledAt })
          : `${person.email}  ${person.name}  since ${day(person.createdAt)}${disabledAt ? `, disabled since ${day(disabledAt)}` : ''}`,
      );
    },
  },
  'reset-password': {
    takes: 'email',
    records: 'always',
    run: async ({ people }, email, { json }) => {
      const person = (await people.list()).find(({ email: address }) => address === email.toLowerCase());
      if (!person) throw noSuch(email);
      const password = await people.resetPassword(email);
      if (password === undefined)
        throw new Refused(`${email} signs in with another service and has no password here. Nothing was changed.`);
      return json
        ? [JSON.stringify({ email, password })]
        : [
            `The new password of ${email}:\n\n    ${password}\n\nAll sign-ins are revoked. Change it after signing in.`,
            ...(person.hasSecondFactor
              ? [`Signing in still requires a one-time code. "relay-admin reset-second-factor ${email}" removes that.`]
              : []),
          ];
    },
  },
  'reset-second-factor': {
    takes: 'email',
    records: 'always',
    run: async ({ people }, email, { json }) => {
      const removed = await people.resetSecondFactor(email);
      if (removed === undefined) throw noSuch(email);
      if (!removed) throw new Refused(`${email} has no second step at sign-in. Nothing was changed.`);
      return json
        ? [JSON.stringify({ email, secondFactor: false })]
        : [`${email} signs in with only the password. They can set up a new second step in their settings.`];
    },
  },
  invite: {
    takes: 'nothing',
    records: 'always',
    run: async ({ people }, _, { json }) => {
      const { url, expiresAt } = await people.invite();
      return json
        ? [JSON.stringify({ url, expiresAt })]
        : [`A link for one account, until ${expiresAt ?? 'it is used'}:\n\n    ${url}`];
    },
  },
  disable: {
    takes: 'email',
    records: 'always',
    run: (deps, email, options) => setDisabled(deps, email, true, options),
  },
  enable: {
    takes: 'email',
    records: 'always',
    run: (deps, email, options) => setDisabled(deps, email, false, options),
  },
  remove: {
    takes: 'email or id',
    records: 'always',
    run: async ({ people }, person, { json, yes }) => {
      if (!yes) throw new Refused(`This deletes the account of ${person} and all its data. Add --yes to confirm.`);
      const id = await people.remove(person);
      if (id === undefined)
        throw new Refused(`${person} has neither an account nor a device. "relay-admin people" lists the accounts.`);
      return json
        ? [JSON.stringify({ id, removed: true })]
        : [`The account ${id} and all its data are deleted. Delete it again after a restore of an older backup.`];
    },
  },
  'remove-device': {
    takes: 'device',
    records: 'always',
    run: async ({ people }, deviceId, { json, yes }) => {
      if (!yes) throw new Refused(`This deletes the sessions of ${deviceId} from the relay. Add --yes to confirm.`);
      if (!(await people.removeDevice(deviceId)))
        throw new Refused(`No device has the id ${deviceId}. "relay-admin devices" lists them.`);
      return json
        ? [JSON.stringify({ deviceId, removed: true })]
        : [`${deviceId} is disconnected, and its credential is refused. Its owner can register it again.`];
    },
  },
  'rotate-push-key': {
    takes: 'nothing',
    records: 'always',
    run: async (deps, _, { json }) => {
      const publicKey = await rotatePushKey(deps);
      if (publicKey === undefined)
        throw new Refused('VAPID_PRIVATE_KEY sets the key: put a new key in front of it, and restart the relay.');
      return json
        ? [JSON.stringify({ publicKey })]
        : [`New browsers subscribe with ${publicKey}. Browsers with the old key get notifications for 90 more days.`];
    },
  },
  'setup-link': { takes: 'nothing', records: 'always', run: setupLink },
  backup: {
    takes: 'folder',
    records: 'always',
    run: async ({ database }, folder, { json }) => {
      if (!database.backup)
        throw new Refused('This relay keeps its state in PostgreSQL. Back it up with pg_dump (docs/operations.md).');
      const { files, bytes } = await database.backup(folder);
      return json
        ? [JSON.stringify({ folder, files, bytes })]
        : [`${folder} holds all data up to now: ${files} files, ${(bytes / 1e6).toFixed(1)} MB. Keep it secret.`];
    },
  },
};

/** These change how a person signs in here, or make an account. */
const ofOwnSignIn: ReadonlySet<string> = new Set([
  'setup-link',
  'invite',
  'reset-password',
  'reset-second-factor',
  'disable',
  'enable',
]);

/** User and host of this system. A user without a name, as in a container, has a number. */
function operatorHere(): string {
  let user = `uid ${process.getuid?.() ?? 'unknown'}`;
  try {
    user = userInfo().username;
  } catch {
    // No entry in /etc/passwd.
  }
  return `${user}@${hostname()}`;
}

/** The request in the arguments; nothing is done yet. Throws Refused. */
export function readArguments(args: string[]): AdminRequest | 'help' | 'version' {
  const { values, positionals } = parsed(args);
  if (values.version) return 'version';
  if (values.help || positionals.length === 0) return 'help';
  const [command = '', word = '', ...more] = positionals;
  const definition = Object.hasOwn(commands, command) ? commands[command] : undefined;
  const fits = definition?.takes.startsWith('maybe') || (definition?.takes === 'nothing') === (word === '');
  if (!definition || more.length > 0 || !fits)
    throw new Refused(`"${positionals.join(' ')}" is not a command. "relay-admin --help" lists all.`);
  return {
    command,
    word,
    options: { json: values.json, yes: values.yes, over: values.over },
    by: values.as ?? operatorHere(),
  };
}

/** Runs a command, with an entry in the audit where it leaves one. */
async function runRecorded<Deps extends { database: AdminDeps['database'] | Error }>(
  command: Command<Deps>,
  deps: Deps,
  { command: name, word, options, by }: AdminRequest,
): Promise<CommandOutcome> {
  const work = async () => outcomeOf(await command.run(deps, word, options));
  const isRecorded = command.records === 'always' || (command.records !== undefined && word !== '');
  if (!isRecorded || deps.database instanceof Error) return work();
  return recorded(deps.database, { command: name, word, by }, work);
}

const outcomeOf = (outcome: string[] | CommandOutcome): CommandOutcome =>
  Array.isArray(outcome) ? { lines: outcome } : outcome;

/** Runs the requested command. Throws Refused, or an error for people such as BACKUP_REFUSED. */
export async function runCommand(deps: AdminDeps, request: AdminRequest): Promise<CommandOutcome> {
  const { command } = request;
  const definition = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (!definition) throw new Refused(`This relay does not know "${command}". Use the relay-admin of its release.`);
  const elsewhere = ofOwnSignIn.has(command) ? signInElsewhere(deps.config) : undefined;
  if (elsewhere !== undefined)
    throw new Refused(`${elsewhere} Use that service for "${command}". Nothing was changed.`);
  return runRecorded(definition, deps, request);
}

/** The command of the request if it is a diagnostic; undefined for commands that need all dependencies. */
export function diagnosticOf(request: AdminRequest): ((deps: DiagnosticDeps) => Promise<CommandOutcome>) | undefined {
  const { command } = request;
  const diagnostic = Object.hasOwn(diagnostics, command) ? diagnostics[command] : undefined;
  return diagnostic && ((deps) => runRecorded(diagnostic, deps, request));
}

function parsed(args: string[]) {
  try {
    const options = {
      json: { type: 'boolean' },
      yes: { type: 'boolean' },
      over: { type: 'string' },
      as: { type: 'string' },
      version: { type: 'boolean' },
      help: { type: 'boolean' },
    } as const;
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Refused(`${(error as Error).message} "relay-admin --help" lists all.`);
  }
}
