/** The header that declares a daemon's agents (rules, 7.11): written by daemons, read by the relay. */
import type { Static } from '@sinclair/typebox';
import type { Device } from './routes/devices.ts';
import { agentTypePattern, limits } from './schema.ts';

export type DeviceAgent = NonNullable<Static<typeof Device>['agents']>[number];

export const agentsHeader = 'X-Agents';

export function formatAgents(agents: readonly DeviceAgent[]): string {
  const field = (name: string, value: string | undefined) => (value ? `;${name}=${encodeURIComponent(value)}` : '');
  return agents
    .map(({ agentType, name, version }) => `${agentType}${field('name', name)}${field('version', version)}`)
    .join(', ');
}

const type = new RegExp(agentTypePattern);

/** Each type once, at most 16. Skips invalid agents and unprintable names. */
export function parseAgents(header: string): DeviceAgent[] {
  const agents = new Map<string, DeviceAgent>();
  for (const entry of header.split(',').slice(0, limits.agents)) {
    const [agentType = '', ...fields] = entry.split(';').map((part) => part.trim());
    if (!type.test(agentType) || agents.has(agentType)) continue;
    const valueOf = (name: string, longest: number) => {
      const value = decoded(fields.find((field) => field.startsWith(`${name}=`))?.slice(name.length + 1) ?? '');
      return value === '' ? {} : { [name]: value.slice(0, longest) };
    };
    agents.set(agentType, { agentType, ...valueOf('name', limits.nameCharacters), ...valueOf('version', 64) });
  }
  return [...agents.values()];
}

/** Only letters, digits, and signs of a line: nothing that hides, or turns the direction of a text. */
const showable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

function decoded(text: string): string {
  try {
    const value = decodeURIComponent(text).trim();
    return showable.test(value) ? value : '';
  } catch {
    return '';
  }
}
