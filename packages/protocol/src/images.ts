/** Whether a daemon takes images, as far as the relay knows (rules, 10.7). */
import { type Capability, capabilities } from './frames/to-daemon.ts';

/** `unconfirmed`: it did not declare `images`, and nothing says that it does not take them. Others ignore the field (field daemons). */
export type ImageSupport = 'yes' | 'unconfirmed' | 'no';

/** Released daemons that are known not to take images, by agent type: versions as they declare them. None is known today. */
type WithoutImages = Readonly<Record<string, RegExp>>;
const knownWithoutImages: WithoutImages = {};

/** Capabilities that only this project defined: a daemon that declares one of them knows `images`, and would declare it. */
const ours = (Object.keys(capabilities) as Capability[]).map((name) => capabilities[name]);

/** By what the daemon declared when it last connected; empty texts and lists for one that never did. */
export function imageSupport(
  daemon: { agentType: string; daemonVersion: string; capabilities: readonly string[] },
  without: WithoutImages = knownWithoutImages,
): ImageSupport {
  if (daemon.capabilities.includes(capabilities.images)) return 'yes';
  if (ours.some((name) => daemon.capabilities.includes(name))) return 'no';
  return without[daemon.agentType]?.test(daemon.daemonVersion) ? 'no' : 'unconfirmed';
}
