/** Whether a daemon takes images, as far as the relay knows (rules, 10.7). */
import { type Capability, capabilities } from './frames/to-daemon.ts';

/**
 * `unconfirmed`: the daemon did not declare `images`, but is not known to lack them. Daemons without support ignore the
 * field (field daemons).
 */
type ImageSupport = 'yes' | 'unconfirmed' | 'no';

/** Released daemons known to lack image support, by agent type: versions as they declare them. Empty today. */
type WithoutImages = Readonly<Record<string, RegExp>>;
const knownWithoutImages: WithoutImages = {};

/** Capabilities that only this project defined: a daemon that declares one of them knows `images`, and would declare it. */
const ours = (Object.keys(capabilities) as Capability[]).map((name) => capabilities[name]);

/**
 * Decides by the declarations of the daemon's last connect; empty texts and lists for a daemon that never connected.
 */
export function imageSupport(
  daemon: { agentType: string; daemonVersion: string; capabilities: readonly string[] },
  without: WithoutImages = knownWithoutImages,
): ImageSupport {
  if (daemon.capabilities.includes(capabilities.images)) return 'yes';
  if (ours.some((name) => daemon.capabilities.includes(name))) return 'no';
  return without[daemon.agentType]?.test(daemon.daemonVersion) ? 'no' : 'unconfirmed';
}
