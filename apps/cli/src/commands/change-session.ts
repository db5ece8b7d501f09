/** `relay rename`, `relay archive` and `relay delete`: change a session's title, hide it from lists, or delete it. */
import { limits } from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { findSession, findSessionId, nameOf } from '../naming.ts';
import { fitted, oneLine } from '../show/text.ts';
import { isConfirmed } from './confirm.ts';
import { contextOf, jsonLine } from './context.ts';

export async function renameCommand(
  typed: string,
  title: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  if (title.trim() === '' || title.length > limits.nameCharacters)
    throw usage(`A title must have 1 to ${limits.nameCharacters} characters.`);
  const { relay, print } = contextOf(options, terminal);
  const session = await relay.call('updateSession', {
    params: { id: await findSessionId(relay, typed) },
    body: { title },
  });
  print(session, () => `Renamed ${nameOf(session.id)} to "${oneLine(session.title)}".\n`);
}

export async function archiveCommand(
  typed: readonly string[],
  options: CommonOptions & { undo?: boolean },
  terminal: Terminal,
): Promise<number> {
  const { relay, print, json } = contextOf(options, terminal);
  const archived = !options.undo;
  const where = archived ? 'is archived; "relay sessions --all" lists it' : 'is listed again';
  // Resolve all names before any change, so that an unknown name fails first.
  const ids: string[] = [];
  for (const text of typed) ids.push(await findSessionId(relay, text));
  let exitCode: number = exitCodes.ok;
  for (const id of ids) {
    try {
      const session = await relay.call('updateSession', { params: { id }, body: { archived } });
      print(session, () => `${nameOf(session.id)} ${where}.\n`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { message, code, more } = error;
      terminal.err(json ? jsonLine({ id, error: message, code, ...more }) : `${nameOf(id)}: ${message} [${code}]\n`);
      exitCode ||= error.exitCode;
    }
  }
  return exitCode;
}

export async function deleteCommand(
  typed: string,
  options: CommonOptions & { yes?: boolean },
  terminal: Terminal,
): Promise<number> {
  const { relay, print } = contextOf(options, terminal);
  const { id, title } = await findSession(relay, typed);
  const name = `"${fitted(oneLine(title), 60)}" (${nameOf(id)})`;
  const question = `Delete ${name}? This deletes it from the relay; its history on the machine stays.`;
  if (!(await isConfirmed(options, terminal, `delete ${name}`, question))) return exitCodes.failed;
  await relay.call('deleteSession', { params: { id } });
  print({ id, deleted: true }, () => `${name} is deleted.\n`);
  return exitCodes.ok;
}
