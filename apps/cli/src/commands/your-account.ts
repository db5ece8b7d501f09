/** `relay account`: exports the user's stored data to a file, and deletes the account. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { deleteConfirmation } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import { changingProfiles, forgetProfile } from '../profiles.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf } from './context.ts';

/** Writes to standard output, or into a new file that only its owner can read. */
export async function exportAccountCommand(
  options: CommonOptions & { out?: string },
  terminal: Terminal,
): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const document = await relay.call('exportMe');
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (options.out === undefined) {
    terminal.out(text);
    return;
  }
  await writeNew(options.out, text);
  print(
    { file: options.out, bytes: Buffer.byteLength(text) },
    () => `Everything the relay keeps about you is in ${options.out}.\n`,
  );
}

/** @throws Failure BAD_USAGE if the file exists */
async function writeNew(path: string, text: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600).catch((error: NodeJS.ErrnoException) => {
    throw usage(
      error.code === 'EEXIST'
        ? `${path} already exists. Choose another file.`
        : `${path} cannot be written: ${error.message}`,
    );
  });
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

export async function deleteAccountCommand(
  options: CommonOptions & { yes?: boolean },
  terminal: Terminal,
): Promise<number> {
  const { relay, home, print, url } = contextOf(options, terminal);
  const { id, email } = await relay.call('me');
  if (!options.yes) {
    if (!terminal.inIsScreen)
      throw usage(`Add --yes to delete the account of ${email ?? id}: there is no terminal to confirm it in.`);
    terminal.err(
      `This deletes the account of ${email ?? id} at ${url} for good: its devices, sessions and messages here, and every sign-in. ` +
        'Files on your machines stay.\n',
    );
    if ((await terminal.ask(`Type "${deleteConfirmation}" to continue: `))?.trim() !== deleteConfirmation) {
      terminal.err('Nothing was changed.\n');
      return exitCodes.failed;
    }
  }
  await relay.call('deleteMe', { body: { confirm: deleteConfirmation } });
  await changingProfiles(home, () => Promise.resolve(forgetProfile(home, url)));
  print({ id, deleted: true }, () => 'Your account is deleted.\n');
  return exitCodes.ok;
}
