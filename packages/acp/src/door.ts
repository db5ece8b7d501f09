/** The relay as an ACP agent for one client: maps requests to conversations. Independent of the transport. */
import {
  type AgentConnection,
  type AgentContext,
  type InitializeRequest,
  type InitializeResponse,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type LoadSessionRequest,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  type Stream,
  agent,
} from '@agentclientprotocol/sdk';
import { RelayError } from '@relay/client';
import { type Session, cutText, limits, placeholderNativeId } from '@relay/protocol';
import { pendingIdOf } from './begin.ts';
import { type Budget, createBudget } from './budget.ts';
import { Conversation } from './conversation.ts';
import { acpError, errorOf, invalid, noSession } from './errors.ts';
import { guarded } from './guarded.ts';
import type { Device, Host } from './host.ts';
import { type Mapping, pathsOf } from './paths.ts';
import { persist } from './persist.ts';
import type { Relay } from './relay.ts';
import { acpIdOf, sessionIdOf } from './session-ids.ts';
import { steeringOf } from './steering.ts';
import { newUlid, timeOf } from './ulid.ts';

interface DoorOptions {
  client: Relay;
  device: Device;
  /** The folder on the device for every session. Absent: the folder of the client, mapped by `mappings`. */
  cwd?: string | undefined;
  mappings?: readonly Mapping[];
  /** Seconds that a prompt waits for an offline device. Default 0: the prompt fails at once. */
  queueSeconds?: number;
  /** The client can read, but not answer. */
  isReadOnly?: boolean;
  /** A sentence that explains how to choose another folder. */
  folderHelp?: string;
  isPassing?: (error: unknown) => boolean;
  log?: (line: string) => void;
  /** The client sent a response to a request that was never sent. */
  onStray?: () => void;
  /** Shared byte budget of all clients of the user. */
  budget?: Budget;
}

/** Open sessions of one client. A new session closes the oldest one without a running prompt. */
const mostOpen = 100;
const checkMs = 5000;
/** A session without a prompt can be loaded for this long. */
const emptyForMs = 24 * 60 * 60 * 1000;

/**
 * Serves one client; resolves when its stream closes. A running turn continues.
 * @throws if the sign-in expires or is revoked
 */
export async function serveAcp(stream: Stream, options: DoorOptions): Promise<void> {
  const door = new Door(options);
  const connection = door.app().connect(guarded(stream, options.onStray));
  try {
    await door.run(connection);
  } finally {
    connection.close();
  }
}

/** Removes invisible characters from a name. Returns undefined if nothing is left. */
const shownName = (name: string): string | undefined =>
  cutText(name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim(), limits.nameCharacters) || undefined;

class Door {
  readonly #options: DoorOptions;
  readonly #budget: Budget;
  readonly #open = new Map<string, Conversation>();
  #shows = { forms: false, notices: false };
  #clientName: string | undefined;
  /** MCP servers of the client. `announced`: the client got the notice that the agent does not use them. */
  #servers: 'none' | 'named' | 'announced' = 'none';
  #connection: AgentConnection | undefined;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#budget = options.budget ?? createBudget();
  }

  app() {
    const refused = async <T>(work: () => Promise<T> | T): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        throw errorOf(error);
      }
    };
    return agent({ name: 'relay' })
      .onRequest('initialize', ({ params }) => this.#initialize(params))
      .onRequest('session/list', ({ params }) => refused(() => this.#list(params)))
      .onRequest('session/new', ({ params }) => refused(() => this.#new(params)))
      .onRequest('session/load', ({ params }) => refused(() => this.#load(params, true)))
      .onRequest('session/resume', ({ params }) => refused(() => this.#load({ mcpServers: [], ...params }, false)))
      .onRequest('session/prompt', ({ params }) => refused(() => this.#prompt(params)))
      .onRequest('_session/steering' as string, steeringOf, ({ params: { sessionId, prompt, isHostOwned } }) =>
        refused(() => this.#get(sessionId).steer(prompt as PromptRequest['prompt'], isHostOwned)),
      )
      .onRequest('session/set_mode', ({ params: { sessionId, modeId } }) =>
        refused(() => this.#setMode(sessionId, modeId)),
      )
      .onRequest('session/set_config_option', ({ params: { sessionId, configId, value } }) =>
        refused(async () => {
          const choices = await this.#get(sessionId).choices({ id: configId, value: String(value) });
          return { configOptions: choices.configOptions ?? [] };
        }),
      )
      .onNotification('session/cancel', ({ params }) => this.#open.get(params.sessionId)?.cancel());
  }

  /** Resolves when the client disconnects. @throws if the relay's stream fails for good */
  async run(connection: AgentConnection): Promise<void> {
    this.#connection = connection;
    const { client } = this.#options;
    const { signal } = connection;
    const timer = setInterval(() => {
      for (const conversation of this.#open.values())
        conversation.check(Date.now()).catch(() => this.#log('A session cannot be read now.'));
    }, checkMs);
    try {
      for await (const frame of client.attention({ events: ['transcript'], signal }))
        for (const conversation of [...this.#open.values()]) await conversation.apply(frame);
    } catch (error) {
      const { message, data, code } = errorOf(error);
      for (const conversation of this.#open.values())
        conversation.end(acpError(message, data as Parameters<typeof acpError>[1], code));
      throw error;
    } finally {
      clearInterval(timer);
      for (const conversation of this.#open.values()) conversation.close();
    }
  }

  #initialize({ clientCapabilities: capabilities, clientInfo }: InitializeRequest): InitializeResponse {
    const { device } = this.#options;
    this.#clientName = shownName(clientInfo?.title ?? clientInfo?.name ?? '');
    this.#shows = {
      forms: Boolean(capabilities?.elicitation?.form),
      notices: Boolean(capabilities?.session?.notices),
    };
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: device.agentType, title: device.title, version: device.version },
      agentCapabilities: {
        loadSession: true,
        sessionCapabilities: { list: {}, resume: {} },
        promptCapabilities: { image: device.images, audio: false, embeddedContext: device.files },
      },
      authMethods: [],
      ...(device.steers ? { _meta: { steering: { supported: true } } } : {}),
    };
  }

  async #list({ cursor, cwd }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { client, device } = this.#options;
    const folder = cwd ? this.#place(cwd).cwd : undefined;
    const { deviceId, agentType } = device;
    const page = await client.call('listSessions', {
      query: { deviceId, limit: 100, ...(cursor ? { cursor } : {}) },
    });
    const openIds = new Map([...this.#open.values()].map((one) => [one.sessionId, one.id]));
    return {
      sessions: page.sessions
        .filter((one) => one.agentType === agentType && (folder === undefined || one.projectPath === folder))
        .map((session) => ({
          sessionId: openIds.get(session.id) ?? acpIdOf(session.id),
          cwd: pathsOf(this.#mappings()).toLocal(session.projectPath) || '/',
          title: session.title,
          updatedAt: session.updatedAt,
          _meta: { relay: { status: session.status } },
        })),
      ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
    };
  }

  async #new({ cwd, mcpServers }: NewSessionRequest) {
    this.#hearOf(mcpServers);
    const begin = this.#place(cwd);
    await this.#checkFolder(begin.cwd);
    const id = placeholderNativeId(newUlid());
    const conversation = new Conversation(this.#host(), { ...begin, id });
    this.#add(conversation);
    return { sessionId: id, ...(await conversation.choices()) };
  }

  async #load({ sessionId: id, cwd, mcpServers }: LoadSessionRequest, isReplayed: boolean) {
    this.#hearOf(mcpServers);
    const { client, device } = this.#options;
    const open = this.#open.get(id);
    if (open) {
      await (isReplayed ? open.replay(true) : open.resume());
      return open.choices();
    }
    const sessionId = sessionIdOf(id, device);
    if (sessionId === undefined) throw noSession(id);
    const session = await this.#find(sessionId, client);
    const place = this.#place(cwd);
    if (!session) {
      const began = pendingIdOf(id);
      if (began === undefined || timeOf(began) < Date.now() - emptyForMs) throw noSession(id);
      this.#add(new Conversation(this.#host(), { ...place, id }));
      return {};
    }
    const conversation = new Conversation(this.#host(), {
      ...place,
      cwd: session.projectPath || place.cwd,
      id,
      session,
    });
    // Registered before the read, so that no later frame is missed.
    this.#add(conversation);
    try {
      await conversation.replay(isReplayed);
    } catch (error) {
      this.#open.delete(id);
      conversation.close();
      throw error;
    }
    return conversation.choices();
  }

  async #prompt(request: PromptRequest): Promise<PromptResponse> {
    const { sessionId } = request;
    const conversation = this.#get(sessionId);
    if (this.#servers === 'named') {
      this.#servers = 'announced';
      const title = 'The MCP servers of this client are not used';
      const description = 'The agent runs on another machine, with the servers that are configured there.';
      this.#log(`${title}. ${description}`);
      const update = { sessionUpdate: 'notice', severity: 'info', title, description } as const;
      if (this.#shows.notices) await this.#connection!.client.notify('session/update', { sessionId, update });
    }
    return conversation.prompt(request);
  }

  #hearOf(servers: readonly unknown[]): void {
    if (servers.length > 0 && this.#servers === 'none') this.#servers = 'named';
  }

  async #find(id: string, client: Relay): Promise<Session | undefined> {
    try {
      return await client.call('readSession', { params: { id }, query: { limit: 1 } });
    } catch (error) {
      if (error instanceof RelayError && error.code === 'SESSION_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async #setMode(sessionId: string, modeId: string) {
    const conversation = this.#get(sessionId);
    const { modes, configOptions = [] } = await conversation.choices();
    const mode = configOptions.find(({ category }) => category === 'mode');
    if (!modes || !mode) throw invalid('This session has no modes.');
    await conversation.choices({ id: mode.id, value: modeId });
    return {};
  }

  /** @throws RequestError with existing folders if the daemon reports that the folder does not exist */
  async #checkFolder(path: string): Promise<void> {
    if (path === '') return;
    const { client, device, folderHelp = 'Choose one in the client.' } = this.#options;
    const params = { id: device.deviceId };
    try {
      await client.call('listFolders', { params, query: { path } });
    } catch (error) {
      if (!(error instanceof RelayError) || error.code !== 'FOLDER_NOT_FOUND') return;
      const { recent, browsed } = await client.call('listFolders', { params, query: { path: '' } });
      const folders = [...recent, ...(browsed?.folders ?? [])].map((folder) => folder.path);
      const examples =
        folders.length === 0 ? '' : ` It has, for example: ${[...new Set(folders)].slice(0, 10).join(', ')}.`;
      throw acpError(
        `${device.title} has no folder ${path} in which agents may work.${examples} ${folderHelp}`,
        { code: error.code, status: error.status },
        -32602,
      );
    }
  }

  #place(local: string) {
    const { cwd } = this.#options;
    const mappings = cwd === undefined ? this.#mappings() : [...this.#mappings(), { local, remote: cwd }];
    const paths = pathsOf(mappings);
    return { cwd: cwd ?? paths.toRemote(local), paths };
  }

  #mappings(): readonly Mapping[] {
    return this.#options.mappings ?? [];
  }

  #get(id: string): Conversation {
    const conversation = this.#open.get(id);
    if (!conversation) throw noSession(id);
    return conversation;
  }

  #add(conversation: Conversation): void {
    if (this.#open.size >= mostOpen) {
      const oldest = [...this.#open.values()].find(({ isBusy }) => !isBusy);
      if (!oldest) throw acpError('Too many sessions are open.', { code: 'TOO_MANY_SESSIONS' });
      this.#open.delete(oldest.id);
      oldest.close();
    }
    this.#open.set(conversation.id, conversation);
  }

  #log(line: string): void {
    this.#options.log?.(line);
  }

  #host(): Host {
    const { client, device, queueSeconds = 0, isReadOnly = false, isPassing } = this.#options;
    const { signal, client: to }: { signal: AbortSignal; client: AgentContext } = this.#connection!;
    const requestOptions = (until: AbortSignal) => ({ cancellationSignal: until, stopWaitingOnCancel: true });
    return {
      client,
      device,
      queueSeconds,
      budget: this.#budget,
      shows: this.#shows,
      clientName: this.#clientName,
      isReadOnly,
      signal,
      update: (sessionId, update) => to.notify('session/update', { sessionId, update }),
      askPermission: (request, until) => to.request('session/request_permission', request, requestOptions(until)),
      askForm: (request, until) => to.request('elicitation/create', request, requestOptions(until)),
      persist: (attempt) => persist(attempt, { signal, isPassing }),
      log: (line) => this.#log(line),
    };
  }
}
