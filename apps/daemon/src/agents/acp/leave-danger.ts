/** Agents keep the mode of a session, which an app or a terminal chose before. This leaves modes that the machine does not allow. */
import type { Setting } from '@relay/protocol';
import { type Fields, recordOf } from '@relay/daemon-kit';
import { isDangerous } from './danger.ts';
import type { Quirks } from './presets.ts';
import { type AgentProcess, AgentFailure } from './process.ts';
import { configIn, modesOf } from './settings.ts';

interface Reopened {
  agent: Pick<AgentProcess, 'request'>;
  sessionId: string;
  /** The agent's reply when it reopened the session. */
  answer: Fields;
}

/**
 * Chooses the first option that asks in place of each one in effect that does not. Returns the reply with these choices.
 * @throws AgentFailure also if every option never asks
 */
export async function leaveDanger(
  { agent, sessionId, answer }: Reopened,
  quirks: Pick<Quirks, 'doesNotAsk'>,
  limitMs: number,
): Promise<Fields> {
  const safeIn = (setting: Setting): string | undefined => {
    const { value, options } = setting;
    const current = options.find(({ id }) => id === value) ?? { id: value, name: value };
    if (!isDangerous(setting, current, quirks)) return undefined;
    const safe = options.find((option) => !isDangerous(setting, option, quirks));
    if (safe) return safe.id;
    throw new AgentFailure(
      `This machine does not allow a mode that never asks, and “${setting.name}” offers no other.`,
    );
  };
  let now = answer;
  for (const setting of configIn(answer)) {
    const value = safeIn(setting);
    if (value === undefined) continue;
    const change = { sessionId, configId: setting.id, value };
    now = { ...now, ...(await agent.request('session/set_config_option', change, limitMs)) };
  }
  for (const setting of modesOf(answer)) {
    const modeId = safeIn(setting);
    if (modeId === undefined) continue;
    await agent.request('session/set_mode', { sessionId, modeId }, limitMs);
    now = { ...now, modes: { ...recordOf(now.modes), currentModeId: modeId } };
  }
  return now;
}
