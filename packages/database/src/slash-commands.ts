/** What daemons told of slash commands: the newest report per session, and one for all of the device. */
import type { CommandList, SlashCommand } from '@relay/protocol';
import type { Db } from './transaction.ts';

/** Sessions of a device whose commands are remembered; the one that was reported longest ago is forgotten first. */
const maxSessions = 500;

/**
 * Keeps a report in place of the one before. `nativeId` is empty for what holds for the whole device. The same report again is
 * written down at most once a day. Nothing happens when the device is gone.
 */
export async function saveSlashCommands(
  db: Db,
  deviceId: string,
  nativeId: string,
  commands: readonly SlashCommand[],
): Promise<void> {
  const written = await db.$executeRaw`
    INSERT INTO slash_commands AS c (device_id, native_id, commands)
    SELECT id, ${nativeId}, ${JSON.stringify(commands)}::jsonb FROM devices WHERE id = ${deviceId} AND removed_at IS NULL
    ON CONFLICT (device_id, native_id) DO UPDATE SET commands = excluded.commands, reported_at = now()
    WHERE c.commands <> excluded.commands OR c.reported_at < now() - interval '1 day'`;
  if (written === 0) return;
  await db.$executeRaw`
    DELETE FROM slash_commands WHERE device_id = ${deviceId} AND native_id IN (
      SELECT native_id FROM slash_commands WHERE device_id = ${deviceId} AND native_id <> '' AND native_id <> ${nativeId}
      ORDER BY reported_at DESC OFFSET ${maxSessions - 1})`;
}

/** What was told of the session, else of its device, else nothing. */
export async function readSlashCommands(db: Db, deviceId: string, nativeId: string): Promise<CommandList['commands']> {
  const rows = await db.$queryRaw<{ commands: SlashCommand[] }[]>`
    SELECT commands FROM slash_commands WHERE device_id = ${deviceId} AND native_id IN (${nativeId}, '')
    ORDER BY native_id DESC LIMIT 1`;
  return (rows[0]?.commands ?? []).map((command) => ({
    name: command.name,
    description: command.description ?? '',
    ...(command.input_hint ? { inputHint: command.input_hint } : {}),
  }));
}
