/** The reader of each agent's files. */
import type { Holders, Outside } from '@relay/daemon-kit';
import type { Preset } from '../acp/presets.ts';
import { claudeFormat } from './claude.ts';
import { codexFormat, codexLimitsOf } from './codex.ts';
import { geminiFormat } from './gemini.ts';
import { type Format, nativeHistory } from './native.ts';
import { qwenFormat } from './qwen.ts';

const formats: Readonly<Record<NonNullable<Preset['history']>, Format>> = {
  claude: claudeFormat,
  codex: codexFormat,
  qwen: qwenFormat,
  gemini: geminiFormat,
};

/** `env`: of the agent, since its variables can move its files. */
export function historyOf(
  preset: Preset | undefined,
  env: NodeJS.ProcessEnv,
  holders?: Pick<Holders, 'look' | 'of'>,
): Outside | undefined {
  return preset?.history && nativeHistory(formats[preset.history], env, undefined, holders);
}

/** The reader of the limits of the plan, for an agent that reports them only in its files. */
export const limitsOf = (preset: Preset | undefined, env: NodeJS.ProcessEnv) =>
  preset?.history === 'codex' ? codexLimitsOf(env) : undefined;
