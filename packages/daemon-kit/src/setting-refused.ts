/** The reason why a setting was not changed, or why there is none. The message is for people. */
export class SettingRefused extends Error {
  readonly code: 'SETTINGS_NOT_SUPPORTED' | 'INVALID_SETTING' | 'SETTING_NOT_ALLOWED';
  constructor(code: SettingRefused['code'], message: string) {
    super(message);
    this.name = 'SettingRefused';
    this.code = code;
  }
}
