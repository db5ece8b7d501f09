/** Settings of an agent within the bounds of a frame, and the reasons to refuse a change. */
import { type Setting, limits, settingLimits } from '@relay/protocol';
import { entryBytes, keepHead } from './bounds.ts';

/** The reason why a setting was not changed, or is missing. The message is for people. */
export class SettingRefused extends Error {
  readonly code: 'SETTINGS_NOT_SUPPORTED' | 'INVALID_SETTING' | 'SETTING_NOT_ALLOWED';
  constructor(code: SettingRefused['code'], message: string) {
    super(message);
    this.name = 'SettingRefused';
    this.code = code;
  }
}

/** The settings within the bounds: the excess is left out, except for the current option. */
export function withinBounds(settings: readonly Setting[]): Setting[] {
  let left: number = settingLimits.bytes - 1024;
  const kept = settings
    .filter(({ id, value }) => isId(id) && isId(value))
    .slice(0, settingLimits.settings)
    .map((setting): Setting => ({ ...described(setting), options: [] }));
  for (const setting of kept) left -= entryBytes(setting);
  for (const setting of kept) {
    const { options = [] } = settings.find(({ id }) => id === setting.id) ?? {};
    const current = options.filter(({ id }) => id === setting.value);
    const others = options.filter(({ id }) => id !== setting.value && isId(id));
    const fit = new Set<string>();
    for (const option of [...current, ...others].slice(0, settingLimits.options)) {
      const size = entryBytes(described(option));
      if (size > left) break;
      left -= size;
      fit.add(option.id);
    }
    setting.options = options.filter(({ id }) => fit.has(id)).map(described);
  }
  return left < 0 ? [] : kept;
}

const isId = (text: string) => text !== '' && text.length <= limits.idCharacters;
const described = <T extends { name: string; description?: string; group?: string; category?: string }>(one: T): T => ({
  ...one,
  name: keepHead(one.name, limits.nameCharacters),
  ...(one.group === undefined ? {} : { group: keepHead(one.group, limits.nameCharacters) }),
  ...(one.category === undefined ? {} : { category: keepHead(one.category, limits.nameCharacters) }),
  ...(one.description === undefined ? {} : { description: keepHead(one.description, limits.promptOptionCharacters) }),
});
