/** A folder that only its owner can write to. */
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { Failure, exitCodes, systemCode } from './failure.ts';

/**
 * Makes sure that the folder exists, 0700 if it is new. A folder writable by others is refused: they could swap the credentials.
 * An existing folder keeps its mode; it can be a home folder.
 */
export function makePrivateFolder(folder: string): void {
  try {
    const created = mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (created !== undefined) chmodSync(folder, 0o700);
  } catch (error) {
    throw new Failure(
      'HOME_UNUSABLE',
      `Cannot create the folder ${folder} (${systemCode(error) ?? 'unknown error'}). Choose another one with --home.`,
      exitCodes.config,
      { cause: error },
    );
  }
  if (process.platform !== 'win32' && (statSync(folder).mode & 0o022) !== 0) {
    throw new Failure(
      'HOME_UNSAFE',
      `Other users can write to the folder ${folder}. Run "chmod go-w ${folder}", or choose another one with --home.`,
      exitCodes.config,
    );
  }
}
