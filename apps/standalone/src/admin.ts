#!/usr/bin/env node
/**
 * `relay-admin`: accounts, from the machine that runs the relay. It opens the same database: the embedded one only while the relay
 * is stopped, PostgreSQL (with REDIS_URL, so that every instance hears of it) at any time.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type People, peopleOf } from '@relay/api';
import { type RelayConfig, readConfig } from '@relay/config';
import { isForPeople, openInstance, versionOf } from '@relay/service/instance';
import { withSecret } from './secret.ts';

const usage = `Usage: relay-admin <command> [options]

Accounts of this relay. Reads the same environment as the relay (DATA_DIR, or DATABASE_URL and REDIS_URL). With the embedded
database, stop the relay first.

Commands:
  people                    everyone who has an account
  reset-password <email>    sets a new password, prints it once, and signs the person out everywhere
  invite                    prints a link for one new account; it ends after a week
  remove <email> --yes      deletes the account with its devices and sessions; this cannot be undone

Options:
  --json      one JSON object per line
  --version   prints the version
  --help      prints this
`;

class Refused extends Error {}

interface Options {
  json?: boolean | undefined;
  yes?: boolean | undefined;
}

type Command = (people: People, email: string, options: Options) => Promise<void>;

const line = (text: string) => void process.stdout.write(`${text}\n`);
const noSuch = (email: string) => new Refused(`No account has the address ${email}. "relay-admin people" lists them.`);

const commands: Readonly<Record<string, { takesEmail: boolean; run: Command }>> = {
  people: {
    takesEmail: false,
    run: async (people, _, { json }) => {
      const all = await people.list();
      for (const { id, email, name, createdAt, lastSignInAt, hasPassword } of all) {
        if (json) line(JSON.stringify({ id, email, name, createdAt, lastSignInAt: lastSignInAt ?? null, hasPassword }));
        else line(`${email}  ${name}  since ${createdAt.toISOString().slice(0, 10)}`);
      }
      if (all.length === 0 && !json) line('No accounts yet. Start the relay: it prints the link for the first one.');
    },
  },
  'reset-password': {
    takesEmail: true,
    run: async (people, email, { json }) => {
      if (!(await people.list()).some((person) => person.email === email.toLowerCase())) throw noSuch(email);
      const password = await people.resetPassword(email);
      if (password === undefined)
        throw new Refused(`${email} signs in with another service and has no password here. Nothing was changed.`);
      if (json) line(JSON.stringify({ email, password }));
      else
        line(
          `The new password of ${email}:\n\n    ${password}\n\nEvery sign-in has ended. Change it after signing in.`,
        );
    },
  },
  invite: {
    takesEmail: false,
    run: async (people, _, { json }) => {
      const { url, expiresAt } = await people.invite();
      if (json) line(JSON.stringify({ url, expiresAt }));
      else line(`A link for one account, until ${expiresAt ?? 'it is used'}:\n\n    ${url}`);
    },
  },
  remove: {
    takesEmail: true,
    run: async (people, email, { json, yes }) => {
      if (!yes) throw new Refused(`This deletes everything of ${email}. Say so with --yes.`);
      if (!(await people.remove(email))) throw noSuch(email);
      if (json) line(JSON.stringify({ email, removed: true }));
      else line(`${email} and everything of this account are deleted.`);
    },
  },
};

function readArguments(args: string[]) {
  try {
    const options = {
      json: { type: 'boolean' },
      yes: { type: 'boolean' },
      version: { type: 'boolean' },
      help: { type: 'boolean' },
    } as const;
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Refused(`${(error as Error).message} "relay-admin --help" lists all.`);
  }
}

/** The configuration of the relay beside it. Quiet: only errors are logged, and nothing listens. */
function configuration(): RelayConfig {
  const role = process.env.REDIS_URL === undefined ? 'standalone' : 'api';
  const config = readConfig(role, { LOG_LEVEL: 'error', ...process.env });
  if (config.databaseUrl === undefined && !existsSync(config.dataDir))
    throw new Refused(`${config.dataDir} does not exist. Set DATA_DIR to the data folder of the relay, as it has it.`);
  return withSecret(config);
}

async function main(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const version = versionOf(import.meta.url);
  if (values.version) return line(version);
  if (values.help || positionals.length === 0) return void process.stdout.write(usage);
  const [name = '', email = '', ...more] = positionals;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command || more.length > 0 || command.takesEmail !== (email !== ''))
    throw new Refused(`"${positionals.join(' ')}" is no command. "relay-admin --help" lists all.`);
  const config = configuration();
  const instance = await openInstance(config.role, config, { version, processMetrics: false });
  try {
    await command.run(peopleOf(instance.deps('api')), email, values);
  } finally {
    await instance.close();
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Refused) && !isForPeople(error)) throw error;
  process.stderr.write(`relay-admin: ${(error as Error).message}\n`);
  process.exitCode = error instanceof Refused ? 2 : 1;
}
