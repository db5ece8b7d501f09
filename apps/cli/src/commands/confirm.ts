/** Asks for confirmation before data is lost. */
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';

/** Returns true if the user agrees or passed `--yes`. `action` follows "to". @throws Failure BAD_USAGE if no terminal is attached */
export async function isConfirmed(
  { yes }: { yes?: boolean },
  terminal: Terminal,
  action: string,
  question: string,
): Promise<boolean> {
  if (yes) return true;
  if (!terminal.inIsScreen) throw usage(`Add --yes to ${action}: there is no terminal to confirm it in.`);
  if (/^\s*y(es)?\s*$/i.test((await terminal.ask(`${question} [y/N] `)) ?? '')) return true;
  terminal.err('Nothing was changed.\n');
  return false;
}
