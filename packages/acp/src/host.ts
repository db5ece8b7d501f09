/** The surroundings of a conversation: the relay, the device, and the client with its abilities. */
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
  /** The version of the agent; empty when it is not known. */
  version: string;
  /** It takes pictures, or does not say that it takes none. */
  images: boolean;
  /** It keeps a transcript of items. */
  keepsItems: boolean;
  /** It takes messages into running turns, where the agent does. */
  steers: boolean;
}

/** The device for one of its agents, by default that of its registration. undefined: it offers no such agent. */
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
    keepsItems: capabilities.includes('transcript'),
    steers: capabilities.includes('steer'),
  };
}

export interface Host {
  readonly client: Relay;
  readonly device: Device;
  /** How long a prompt may wait for a device that is offline, in seconds. 0: it fails at once. */
  readonly queueSeconds: number;
  readonly budget: Budget;
  /** The client shows forms, and notices. */
  readonly shows: { forms: boolean; notices: boolean };
  /** How the client calls itself, for people. */
  readonly clientName: string | undefined;
  /** It may not answer. */
  readonly isReadOnly: boolean;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Resolves when it is written: the pace is the client's. */
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  askPermission(request: RequestPermissionRequest, until: AbortSignal): Promise<RequestPermissionResponse>;
  askForm(request: CreateElicitationRequest, until: AbortSignal): Promise<CreateElicitationResponse>;
  /** Retries what fails because the relay is away, until it is back or the client is gone. */
  persist: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** For people who look for a fault. Never a text of a conversation. */
  log(line: string): void;
}
