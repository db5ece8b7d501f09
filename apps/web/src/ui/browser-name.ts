/** The common name of a browser, from its User-Agent. */
import { words } from '../catalogue.ts';

const systems = ['iPhone', 'iPad', 'Android', 'Windows', 'Mac', 'Linux'];
const browsers = ['Firefox', 'Edg', 'Chrome', 'Safari'];

/** Such as “Chrome on Android”. */
export function browserName(userAgent: string): string {
  const found = browsers.find((name) => userAgent.includes(name)) ?? words.common.unknownBrowser;
  const system = systems.find((name) => userAgent.includes(name));
  const name = found === 'Edg' ? 'Edge' : found;
  return system === undefined ? name : words.common.browserOn(name, system);
}
