/**
 * Options and commands that let an agent work without asking, such as a mode that bypasses permissions. The marks are a
 * warning and can be wrong in both directions: an agent decides by itself when it asks.
 */
import { neverAsks } from '@relay/protocol';
import type { Quirks } from './presets.ts';

const off = /^(?:off|false|no|none|disabled?)$/i;

interface Choosable {
  id: string;
  name: string;
  description?: string;
}

/** `category`: of the setting, as ACP names it. A model follows its mode. */
export function isDangerous(
  { id, name, category }: Choosable & { category?: string },
  option: Choosable,
  { doesNotAsk }: Pick<Quirks, 'doesNotAsk'>,
): boolean {
  if (doesNotAsk?.test(option.id) === true) return true;
  if (category === 'model' || category === 'thought_level') return false;
  // A switch is named after its effect: "allow_all" is dangerous unless it is off.
  if ((neverAsks(id) || neverAsks(name)) && !off.test(option.id)) return true;
  // The descriptions of a known agent compare its modes with each other.
  const words = doesNotAsk ? [option.id, option.name] : [option.id, option.name, option.description ?? ''];
  return words.some(neverAsks);
}

const asking =
  /^auto$|(?:^|[^a-z])(?:modes?|approvals?|permissions?|allow(?:ed|list)?|trust(?:ed)?|sandbox|autopilot|yolo)(?![a-z])|auto[-_]?(?:approv|accept|edit)/i;
const sets = /^(?:config|configure|options?|set|settings?)$/i;

/**
 * Returns the name of the slash command at the start of a message if it can change when the agent asks, such as `/yolo` or
 * `/approval-mode auto-edit`: by its name, its argument or its description. `descriptionOf`: as the agent announced the command.
 */
export function commandAboutAsking(message: string, descriptionOf: (name: string) => string): string | undefined {
  const [, name, rest = ''] = /^\s*\/([^\s/]+)[^\S\n]*(.*)/u.exec(message.normalize('NFKC')) ?? [];
  if (name === undefined) return undefined;
  const [argument = ''] = rest.split(/\s/);
  const isAboutAsking =
    asking.test(name) ||
    [name, argument, descriptionOf(name)].some(neverAsks) ||
    (sets.test(name) && asking.test(rest));
  return isAboutAsking ? name : undefined;
}
