/** Facts about a device that frames and bodies share. */
import { agentTypePattern, text } from '../schema.ts';

export const deviceStatuses = ['online', 'offline'] as const;
export type DeviceStatus = (typeof deviceStatuses)[number];

export const agentType = text('Agent type name', { pattern: agentTypePattern, maxLength: 64 });
