/** Where the newest session was started in this browser: the next one mostly goes there, too. */
import { keepStored, readStored } from '../forget.ts';

interface LastChoice {
  device?: string;
  /** By machine. */
  agents: Readonly<Record<string, string>>;
}

const name = 'new-session';
/** Machines whose agent is remembered. */
const most = 50;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

export function readLastChoice(): LastChoice {
  try {
    const stored: unknown = JSON.parse(readStored(name) ?? '');
    if (!isRecord(stored)) return { agents: {} };
    const agents = Object.entries(isRecord(stored['agents']) ? stored['agents'] : {});
    return {
      ...(typeof stored['device'] === 'string' ? { device: stored['device'] } : {}),
      agents: Object.fromEntries(
        agents.flatMap(([id, type]): [string, string][] => (typeof type === 'string' ? [[id, type]] : [])),
      ),
    };
  } catch {
    return { agents: {} };
  }
}

/** In a browser that keeps nothing the first machine is chosen. */
export function rememberChoice(device: string, agentType: string): void {
  const others = Object.entries(readLastChoice().agents).filter(([id]) => id !== device);
  const all: [string, string][] = [...others, [device, agentType]];
  keepStored(name, JSON.stringify({ device, agents: Object.fromEntries(all.slice(-most)) }));
}
