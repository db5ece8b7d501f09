/** Slash commands that daemons reported: the newest report per session, and one for all of the device. */
import type { CommandList, SlashCommand, SlashCommandSet } from '@relay/protocol';
import type { Db } from './transaction.ts';

/** The most sessions of a device whose commands are kept; the one reported longest ago is discarded first. */
const maxSessions = 500;

/**
 * Saves a report in place of the previous one. `nativeId` is empty for a report about the whole device. An unchanged report is
 * written at most once a day. Does nothing if the device is gone.
 */
export async function saveSlashCommands(
  db: Db,
  deviceId: string,
  nativeId: string,
  commands: readonly SlashCommand[],
): Promise<void> {
  const written = await db.sql.execute`
    INSERT INTO slash_commands AS c (device_id, native_id, commands)
    SELECT id, ${nativeId}, ${JSON.stringify(commands)}::jsonb FROM devices WHERE id = ${deviceId} AND removed_at IS NULL
    ON CONFLICT (device_id, native_id) DO UPDATE SET commands = excluded.commands, reported_at = now()
    WHERE c.commands <> excluded.commands OR c.reported_at < now() - interval '1 day'`;
  if (written === 0) return;
  await db.sql.execute`
    DELETE FROM slash_commands WHERE device_id = ${deviceId} AND native_id IN (
      SELECT native_id FROM slash_commands WHERE device_id = ${deviceId} AND native_id <> '' AND native_id <> ${nativeId}
      ORDER BY reported_at DESC OFFSET ${maxSessions - 1})`;
}

/** Removes trailing slashes, so that a path with and without them has one set. */
const projectOf = (path: string) => path.replace(/(?<=.)\/+$/, '');

/**
 * Replaces all sets of a device, by project. Each project must appear once. Writes an unchanged set at most once a day.
 * Does nothing if the device is gone.
 */
export async function saveSlashCommandSets(db: Db, deviceId: string, sets: readonly SlashCommandSet[]): Promise<void> {
  const byProject = new Map(sets.map(({ project, commands }) => [projectOf(project), commands]));
  const reported = JSON.stringify([...byProject].map(([project, commands]) => ({ project, commands })));
  await db.sql.execute`
    WITH reported AS (
      SELECT * FROM jsonb_to_recordset(${reported}::jsonb) AS a(project text, commands jsonb)
    ), gone AS (
      DELETE FROM slash_command_sets WHERE device_id = ${deviceId} AND project NOT IN (SELECT project FROM reported)
    )
    INSERT INTO slash_command_sets AS c (device_id, project, commands)
    SELECT d.id, reported.project, reported.commands FROM reported JOIN devices d ON d.id = ${deviceId} AND d.removed_at IS NULL
    ON CONFLICT (device_id, project) DO UPDATE SET commands = excluded.commands, reported_at = now()
    WHERE c.commands <> excluded.commands OR c.reported_at < now() - interval '1 day'`;
}

/** The commands reported for the session, else for its project, else for its device, else an empty list. */
export async function readSlashCommands(
  db: Db,
  deviceId: string,
  nativeId: string,
  projectPath: string,
): Promise<CommandList['commands']> {
  const rows = await db.sql.query<{ commands: SlashCommand[] }>`
    SELECT commands FROM (
      SELECT commands, CASE native_id WHEN '' THEN 4 ELSE 1 END AS place FROM slash_commands
      WHERE device_id = ${deviceId} AND native_id IN (${nativeId}, '')
      UNION ALL
      SELECT commands, CASE project WHEN '' THEN 3 ELSE 2 END AS place FROM slash_command_sets
      WHERE device_id = ${deviceId} AND project IN (${projectOf(projectPath)}, '')
    ) told ORDER BY place LIMIT 1`;
  return (rows[0]?.commands ?? []).map((command) => ({
    name: command.name,
    description: command.description ?? '',
    ...(command.input_hint ? { inputHint: command.input_hint } : {}),
  }));
}
