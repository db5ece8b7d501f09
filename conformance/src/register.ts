/** The registration of a device from both sides: the daemon asks for a code, the user approves it, the daemon fetches its credential. */
import type { Device } from './daemon.ts';
import type { Rest } from './rest.ts';

export const agentType = 'conformance_agent';

/** @throws Unmet when any step violates the rules */
export async function register(rest: Rest, hostname: string): Promise<Device> {
  const asked = await rest.ok('requestCode', { body: { hostname, agent_type: agentType } });
  await rest.ok('approveCode', { params: { userCode: asked.body.user_code } });
  const granted = await rest.ok('pollCode', { body: { device_code: asked.body.device_code } });
  const { device_id: id, refresh_token: token } = granted.body;
  return { id, token, agentType, hostname, seenTasks: new Set() };
}
