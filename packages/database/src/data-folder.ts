/**
 * The data folder as files: creation on first use, and advice if the system refuses it. Independent of the database.
 */
import { accessSync, constants, mkdirSync, readdirSync } from 'node:fs';
import { DatabaseError } from './database-error.ts';

const elsewhere = 'choose another folder with DATA_DIR';

/** The system's code, or PGlite's text for it → the remedy. */
const remedies: readonly (readonly [code: RegExp, sentence: () => string])[] = [
  [
    /\bE(?:NOTDIR|EXIST)\b/,
    () => `it is a file, or lies below one, and must be a folder. Move the file away, or ${elsewhere}.`,
  ],
  [
    /\bE(?:ACCES|PERM)\b/,
    () =>
      `this user (${process.getuid?.() ?? 'unknown'}) may not write there. Give the folder to this user (chown), or ${elsewhere}.`,
  ],
  [/\bEROFS\b/, () => `it lies on a file system that may only be read. Mount it for writing, or ${elsewhere}.`],
  [
    /\b(?:ENOSPC|EDQUOT)\b|No space left on device|Disk quota exceeded/,
    () => `its disk is full. Free at least 100 MB on it, or ${elsewhere}. What is in it was not lost.`,
  ],
  [/\b(?:EMFILE|ENFILE)\b/, () => 'too many files are open. Raise the limit (ulimit -n, LimitNOFILE) to 1024 or more.'],
];

/** The error for a folder that the system refuses, with reason and advice. Undefined for any other `error`. */
export function refusedFolder(folder: string, error: unknown): DatabaseError | undefined {
  const { code = '', message = '' } = (error ?? {}) as NodeJS.ErrnoException;
  const remedy = remedies.find(([pattern]) => pattern.test(code) || pattern.test(message));
  if (!remedy) return undefined;
  return new DatabaseError('DATA_DIR_UNUSABLE', `The data folder ${folder} cannot be used: ${remedy[1]()}`, error);
}

/** Makes the folder (mode 700) unless it exists. Throws DatabaseError DATA_DIR_UNUSABLE when it cannot be read and written. */
export function makeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    readdirSync(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const refusal = refusedFolder(folder, error);
    if (refusal) throw refusal;
    throw new DatabaseError(
      'DATA_DIR_UNUSABLE',
      `The data folder ${folder} cannot be used: ${code}. It must be a folder that this user can write; or ${elsewhere}.`,
      error,
    );
  }
}
