/**
 * Options that let an agent work without asking, such as a mode that bypasses permissions. The marks are a warning and
 * can be wrong in both directions: an agent decides by itself when it asks.
 */
import type { Quirks } from './presets.ts';

const bypasses =
  /bypass|yolo|full[\s_-]*access|unrestricted|(?:skip|no)[\s_-]*permissions|allow[\s_-]*(?:all|everything)|never[\s_-]*asks?\b|without[\s_-]*asking/i;
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
  if ((bypasses.test(id) || bypasses.test(name)) && !off.test(option.id)) return true;
  // The descriptions of a known agent compare its modes with each other.
  const words = doesNotAsk ? [option.id, option.name] : [option.id, option.name, option.description ?? ''];
  return words.some((text) => bypasses.test(text));
}
