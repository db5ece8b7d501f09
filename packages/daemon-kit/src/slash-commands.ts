/** The slash commands that the agent announces, kept for the relay: sent at once, and again after each reconnect. */
import { type FromDaemon, type SlashCommand, limits } from '@relay/protocol';
import type { Agent } from './agent.ts';

/** Maximum number of sessions whose commands are kept; the one with the oldest announcement is discarded first. */
const maxSessions = 50;

/** `send` can lose a frame while the daemon is offline: `tell` sends the known commands again. */
export function rememberCommands(
  agent: Pick<Agent, 'onCommands'>,
  send: (frame: FromDaemon<'report_slash_commands'>) => void,
): { send(): void } {
  const frames = new Map<string, FromDaemon<'report_slash_commands'>>();
  agent.onCommands?.((sessionId: string, commands: readonly SlashCommand[]) => {
    const frame = {
      type: 'report_slash_commands',
      session_id: sessionId,
      commands: commands.slice(0, limits.slashCommands),
    } as const;
    frames.delete(sessionId);
    frames.set(sessionId, frame);
    const [oldest] = frames.keys();
    if (frames.size > maxSessions && oldest !== undefined) frames.delete(oldest);
    send(frame);
  });
  return { send: () => frames.forEach(send) };
}
