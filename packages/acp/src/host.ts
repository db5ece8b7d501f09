/** The environment of a conversation: the relay, the device, and the client with its abilities. */
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import type { Device as RelayDevice } from '@relay/protocol';
import type { Budget } from './budget.ts';
import type { Relay } from './relay.ts';
import type { Place } from './session-ids.ts';

export interface Device extends Place {
  /** For people: "Claude Code on my-laptop". */
  title: string;
  /** The version of the agent; empty if unknown. */
  version: string;
  /** It accepts pictures, or does not declare whether it does. */
  images: boolean;
  /** It accepts files. */
  files: boolean;
  /** It keeps a transcript of items. */
  keepsItems: boolean;
  /** It accepts messages into running turns if the agent does. */
  steers: boolean;
}

/** Returns the device for one of its agents, by default its registered agent; undefined if the device does not offer that agent. */
export function deviceFor(device: RelayDevice, wanted?: string): Device | undefined {
  const { id, name, agentType, agents = [], capabilities } = device;
  const type = wanted ?? agentType;
  const agent = agents.find((one) => one.agentType === type);
  if (type !== agentType && !agent) return undefined;
  return {
    deviceId: id,
    agentType: type,
    title: `${agent?.name ?? type} on ${name}`,
    version: agent?.version ?? '',
    images: capabilities.includes('images'),
    files: capabilities.includes('files'),
    keepsItems: capabilities.includes('transcript'),
    steers: capabilities.includes('steer'),
  };
}

export interface Host {
  readonly client: Relay;
  readonly device: Device;
  /** Seconds that a prompt waits for an offline device. 0: the prompt fails at once. */
  readonly queueSeconds: number;
  readonly budget: Budget;
  /** The client shows forms, and notices. */
  readonly shows: { forms: boolean; notices: boolean };
  /** The client's display name for itself. */
  readonly clientName: string | undefined;
  /** The client must not answer. */
  readonly isReadOnly: boolean;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Resolves when the update is written, so the client sets the pace. */
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  askPermission(request: RequestPermissionRequest, until: AbortSignal): Promise<RequestPermissionResponse>;
  askForm(request: CreateElicitationRequest, until: AbortSignal): Promise<CreateElicitationResponse>;
  /** Retries a call through an outage of the relay, until the relay is back or the client disconnects. */
  persist: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** Logs a line for diagnosis. It never contains text of a conversation. */
  log(line: string): void;
}
