/** How a daemon's version compares with the policy for its agent type (rules, 9.14; field daemons). Pure. */
import type { DaemonVersionPolicy } from '@relay/config';
import type { ToDaemon } from '@relay/protocol';

/** Numbers of a version, without a pre-release suffix; undefined for anything else. */
function numbers(version: string): number[] | undefined {
  const match = /^v?(\d+(?:\.\d+)*)/.exec(version.trim());
  return match?.[1]?.split('.').map(Number);
}

/** Whether `version` is older than `than`. An unknown version is older than nothing: an old daemon must not be locked out. */
export function isOlder(version: string, than: string | undefined): boolean {
  const [left, right] = [numbers(version), than === undefined ? undefined : numbers(than)];
  if (!left || !right) return false;
  for (let i = 0; i < Math.max(left.length, right.length); i += 1) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

export function versionStatus(version: string, policy: DaemonVersionPolicy): ToDaemon<'version_status'> {
  const required = isOlder(version, policy.min);
  const available = isOlder(version, policy.recommended) || isOlder(version, policy.latest);
  return {
    type: 'version_status',
    status: required ? 'update_required' : available ? 'update_available' : 'current',
    your_version: version,
    ...(policy.min === undefined ? {} : { min_version: policy.min }),
    ...(policy.recommended === undefined ? {} : { recommended_version: policy.recommended }),
    ...(policy.latest === undefined ? {} : { latest_version: policy.latest }),
    ...(policy.changelogUrl === undefined ? {} : { changelog_url: policy.changelogUrl }),
    ...(required ? { message: `This version is too old. Update to ${policy.min} or newer.` } : {}),
  };
}
