/** The settings of one session that a client has open, also before the session begins. */
import type { MessageSetting, Setting } from '@relay/protocol';
import { INVALID_SETTING } from '@relay/protocol/sentences';
import type { Begin } from './begin.ts';
import { acpError } from './errors.ts';
import type { Host } from './host.ts';
import { type Choices, choicesOf, readChoices } from './settings.ts';

export class SessionChoices {
  readonly #host: Host;
  readonly #begin: Begin;
  /** The options that the client has, as JSON. */
  #clientOptions = '';
  /** The settings of a session before its first prompt, and the client's choices. */
  #offered: readonly Setting[] = [];
  #chosen: readonly MessageSetting[] = [];

  constructor(host: Host, begin: Begin) {
    this.#host = host;
    this.#begin = begin;
  }

  /** The choices to send with the first prompt. */
  get chosen(): readonly MessageSetting[] {
    return this.#chosen;
  }

  /** Reads or changes the settings. Returns an empty object if the device offers no settings or does not respond. @throws the errors of a change */
  async read(sessionId: string | undefined, change?: { id: string; value: string }): Promise<Choices> {
    if (sessionId === undefined) return this.#beginWith(change);
    const choices = await readChoices(this.#host.client, sessionId, change);
    if (choices.configOptions) this.#clientOptions = JSON.stringify(choices.configOptions);
    return choices;
  }

  /** Sends the settings to the client, unless the client has them. */
  async send(sessionId: string | undefined): Promise<void> {
    const before = this.#clientOptions;
    const { modes, configOptions } = await this.read(sessionId);
    if (!configOptions || JSON.stringify(configOptions) === before) return;
    const { id } = this.#begin;
    await this.#host.update(id, { sessionUpdate: 'config_option_update', configOptions });
    if (modes)
      await this.#host.update(id, { sessionUpdate: 'current_mode_update', currentModeId: modes.currentModeId });
  }

  /** Reads the settings before the first prompt, which carries the choice. */
  async #beginWith(change?: { id: string; value: string }): Promise<Choices> {
    const { client, device } = this.#host;
    const { deviceId: id, agentType } = device;
    if (this.#offered.length === 0 && device.keepsItems) {
      const { cwd: projectPath } = this.#begin;
      const query = { agentType, ...(projectPath === '' ? {} : { projectPath }) };
      const answer = await client.call('readDeviceSettings', { params: { id }, query }).catch(() => undefined);
      this.#offered = answer?.settings ?? [];
    }
    if (change) {
      const setting = this.#offered.find((one) => one.id === change.id);
      if (!setting?.options.some((option) => option.id === change.value))
        throw acpError(INVALID_SETTING, { code: 'INVALID_SETTING', status: 400 });
      this.#chosen = [...this.#chosen.filter((one) => one.id !== change.id), { id: change.id, value: change.value }];
      this.#offered = this.#offered.map((one) => (one === setting ? { ...one, value: change.value } : one));
    }
    return choicesOf(this.#offered);
  }
}
