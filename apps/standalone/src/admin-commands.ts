/**
 * The commands of `relay-admin`: their arguments, effects and output. They run in the relay, or in the program while no
 * relay runs.
 */
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
import type { Outcome } from './admin-socket.ts';
import { Refused } from './refused.ts';

export { Refused };
export type { AdminDeps, DiagnosticDeps };

export const usage = `Usage: relay-admin <command> [options]

Accounts, backups and keys of this relay, and what an operator looks at first, from the machine that runs it and as the
same user. It reads the same environment as the relay (DATA_DIR, or DATABASE_URL and REDIS_URL). The relay may run or not.

Commands:
  people                    everyone who has an account
  reset-password <email>    sets a new password, prints it once, removes passkeys and signs the person out everywhere; a second step
                            stays
  reset-second-factor <email>
                            removes the second step at sign-in of a person who lost their app and recovery codes
  invite                    prints a link for one new account; it ends after a week
  disable <email>           signs the person out everywhere and refuses to sign them in; their machines stay
  enable <email>            lets them sign in again
  remove <email> --yes      deletes the account with its devices and sessions; this cannot be undone
  remove-device <id> --yes  disconnects a machine and refuses its credential; its sessions leave the relay, not the machine
  rotate-push-key           makes a new key for push services; browsers of the time before are reached with theirs for 90 days
  setup-link                prints the link for the first account again
  status                    release, database, backplane, how much there is and what waits
  devices [email]           devices of everyone or of one person, those that were seen last first (100)
  queues                    devices with messages that wait, the oldest first (100)
  drain [gateway] [--over <minutes>]
                            lists the gateways and their devices; with the name of one, or of its pod, it takes no more
                            daemons and lets its own go within that time (10 minutes); delete the pod afterwards
  redis                     what is in Redis: records by kind, memory, the largest keys; from a sample, it blocks nothing
  take-redis --yes          claims Redis for this installation, after another installation that used it is gone; a start names the
                            case that needs it
  doctor                    checks what the relay needs, and says what to do about what is wrong; ends with 1 then
  backup <folder>           copies the data folder to a new folder, which can be used as DATA_DIR

Options:
  --json      one JSON object per line
  --over      with drain
  --version   prints the version
  --help      prints this
`;

interface Options {
  json?: boolean | undefined;
  yes?: boolean | undefined;
  over?: string | undefined;
}

/**
 * `run` gets the command's argument, or '' without one, and returns the lines to print, with an exit code if it is not
 * 0.
 */
interface Command<Deps> {
  takes: 'nothing' | 'email' | 'device' | 'folder' | 'maybe an email' | 'maybe a gateway';
  run: (deps: Deps, word: string, options: Options) => Promise<string[] | Outcome>;
}

export interface AdminRequest {
  command: string;
  word: string;
  options: Options;
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
  devices: { takes: 'maybe an email', run: devices },
  queues: { takes: 'nothing', run: queues },
  drain: { takes: 'maybe a gateway', run: drain },
  redis: { takes: 'nothing', run: redis },
  'take-redis': { takes: 'nothing', run: takeRedisHere },
  doctor: { takes: 'nothing', run: doctor },
};

const commands: Readonly<Record<string, Command<AdminDeps>>> = {
  ...diagnostics,
  people: {
    takes: 'nothing',
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
    run: async ({ people }, email, { json }) => {
      const person = (await people.list()).find(({ email: known }) => known === email.toLowerCase());
      if (!person) throw noSuch(email);
      const password = await people.resetPassword(email);
      if (password === undefined)
        throw new Refused(`${email} signs in with another service and has no password here. Nothing was changed.`);
      return json
        ? [JSON.stringify({ email, password })]
        : [
            `The new password of ${email}:\n\n    ${password}\n\nEvery sign-in has ended. Change it after signing in.`,
            ...(person.hasSecondFactor
              ? [`Signing in still takes a one-time code. "relay-admin reset-second-factor ${email}" removes that.`]
              : []),
          ];
    },
  },
  'reset-second-factor': {
    takes: 'email',
    run: async ({ people }, email, { json }) => {
      const removed = await people.resetSecondFactor(email);
      if (removed === undefined) throw noSuch(email);
      if (!removed) throw new Refused(`${email} has no second step at sign-in. Nothing was changed.`);
      return json
        ? [JSON.stringify({ email, secondFactor: false })]
        : [`${email} signs in with the password alone. They can set up a new second step in their settings.`];
    },
  },
  invite: {
    takes: 'nothing',
    run: async ({ people }, _, { json }) => {
      const { url, expiresAt } = await people.invite();
      return json
        ? [JSON.stringify({ url, expiresAt })]
        : [`A link for one account, until ${expiresAt ?? 'it is used'}:\n\n    ${url}`];
    },
  },
  disable: { takes: 'email', run: (deps, email, options) => setDisabled(deps, email, true, options) },
  enable: { takes: 'email', run: (deps, email, options) => setDisabled(deps, email, false, options) },
  remove: {
    takes: 'email',
    run: async ({ people }, email, { json, yes }) => {
      if (!yes) throw new Refused(`This deletes everything that belongs to ${email}. Add --yes to confirm.`);
      if (!(await people.remove(email))) throw noSuch(email);
      return json
        ? [JSON.stringify({ email, removed: true })]
        : [`${email} and everything of this account are deleted.`];
    },
  },
  'remove-device': {
    takes: 'device',
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
    run: async (deps, _, { json }) => {
      const publicKey = await rotatePushKey(deps);
      if (publicKey === undefined)
        throw new Refused('The key is VAPID_PRIVATE_KEY: put a new one in front of it, and restart the relay.');
      return json
        ? [JSON.stringify({ publicKey })]
        : [`Browsers subscribe with ${publicKey} from now on. Those of the key before are notified for 90 days.`];
    },
  },
  'setup-link': { takes: 'nothing', run: setupLink },
  backup: {
    takes: 'folder',
    run: async ({ database }, folder, { json }) => {
      if (!database.backup)
        throw new Refused('This relay keeps its state in PostgreSQL. Back it up with pg_dump (docs/operations.md).');
      const { files, bytes } = await database.backup(folder);
      return json
        ? [JSON.stringify({ folder, files, bytes })]
        : [`${folder} holds everything up to now: ${files} files, ${(bytes / 1e6).toFixed(1)} MB. Keep it secret.`];
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

/** The request in the arguments; nothing is done yet. Throws Refused. */
export function readArguments(args: string[]): AdminRequest | 'help' | 'version' {
  const { values, positionals } = parsed(args);
  if (values.version) return 'version';
  if (values.help || positionals.length === 0) return 'help';
  const [command = '', word = '', ...more] = positionals;
  const known = Object.hasOwn(commands, command) ? commands[command] : undefined;
  const fits = known?.takes.startsWith('maybe') || (known?.takes === 'nothing') === (word === '');
  if (!known || more.length > 0 || !fits)
    throw new Refused(`"${positionals.join(' ')}" is no command. "relay-admin --help" lists all.`);
  return { command, word, options: { json: values.json, yes: values.yes, over: values.over } };
}

const outcomeOf = (outcome: string[] | Outcome): Outcome => (Array.isArray(outcome) ? { lines: outcome } : outcome);

/** Runs the requested command. Throws Refused, or an error for people such as BACKUP_REFUSED. */
export async function runCommand(deps: AdminDeps, { command, word, options }: AdminRequest): Promise<Outcome> {
  const known = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (!known) throw new Refused(`This relay does not know "${command}". Use the relay-admin of its release.`);
  const elsewhere = ofOwnSignIn.has(command) ? signInElsewhere(deps.config) : undefined;
  if (elsewhere !== undefined) throw new Refused(`${elsewhere} "${command}" is done there. Nothing was changed.`);
  return outcomeOf(await known.run(deps, word, options));
}

/** The command of the request if it is a diagnostic; undefined for commands that need all dependencies. */
export function diagnosticOf({
  command,
  word,
  options,
}: AdminRequest): ((deps: DiagnosticDeps) => Promise<Outcome>) | undefined {
  const diagnostic = Object.hasOwn(diagnostics, command) ? diagnostics[command] : undefined;
  return diagnostic && (async (deps) => outcomeOf(await diagnostic.run(deps, word, options)));
}

function parsed(args: string[]) {
  try {
    const options = {
      json: { type: 'boolean' },
      yes: { type: 'boolean' },
      over: { type: 'string' },
      version: { type: 'boolean' },
      help: { type: 'boolean' },
    } as const;
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Refused(`${(error as Error).message} "relay-admin --help" lists all.`);
  }
}
