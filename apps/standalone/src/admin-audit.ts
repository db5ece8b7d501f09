/** The audit of administration: each command of `relay-admin` that changes something, or shows a person, leaves an entry. */
import { type Database, addAuditEntry, listAudit, operatorId, readPersonId } from '@relay/database';
import { Refused } from './refused.ts';

interface AuditedAction {
  command: string;
  word: string;
  /** The operator: user and host of the system, or the name given with --as. */
  by: string;
}

/** The id of the thing that a command names. Entries hold no address, because they outlive a deleted account. */
async function targetOf(database: Database, word: string): Promise<string | undefined> {
  if (word === '') return undefined;
  return word.includes('@') ? readPersonId(database, word) : word;
}

/**
 * Does the work and records its outcome: `done`, or `refused` with the error passed on.
 * @throws the error of the work; Refused if the work succeeded and its entry failed
 */
export async function recorded<T>(database: Database, action: AuditedAction, work: () => Promise<T>): Promise<T> {
  // Before the work: the account of a removed person no longer has an id.
  const target = await targetOf(database, action.word);
  const record = (outcome: 'done' | 'refused') =>
    addAuditEntry(database, {
      ...{ userId: operatorId, action: action.command, outcome, program: 'relay-admin', address: action.by },
      ...(target === undefined ? {} : { target }),
    });
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await record('refused').catch(() => undefined);
    throw error;
  }
  await record('done').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refused(`"${action.command}" succeeded, but its audit entry could not be saved: ${reason}`, {
      cause: 1,
    });
  });
  return result;
}

const entriesShown = 100;

/** The newest entries of all operators. */
export async function audit(
  { database }: { database: Database | Error },
  _: string,
  { json }: { json?: boolean | undefined },
) {
  if (database instanceof Error) throw database;
  const entries = (await listAudit(database, operatorId, entriesShown)).slice(0, entriesShown);
  if (json)
    return entries.map(({ at, address, action, target, outcome }) =>
      JSON.stringify({ at, by: address, action, target: target ?? null, outcome }),
    );
  if (entries.length === 0) return ['No actions of operators yet.'];
  return entries.map(({ at, address, action, target, outcome }) =>
    [at, address, action, target, ...(outcome === 'done' ? [] : [outcome])].filter(Boolean).join('  '),
  );
}
