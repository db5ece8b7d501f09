/**
 * An ACP client, that of the SDK: it starts `relay acp` as editors do, or connects to `/acp/<deviceId>`. Also a machine
 * with an agent at a relay.
 */
import {
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type InitializeResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
  type Stream,
  client,
  ndJsonStream,
} from '@agentclientprotocol/sdk';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { acpAgent, createDaemon, exchangeOf, silentLog } from '@relay/daemon';
import { type RelayAddress, opened, registerDevice } from '@relay/testing';
import { WebSocket } from 'ws';

const file = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

export interface Editor {
  connection: ClientConnection;
  agent: ClientConnection['agent'];
  initialized: InitializeResponse;
  updates: SessionNotification[];
  /** The agent's text in a session, as the editor shows it. */
  said: (sessionId: string) => string;
  /** Resolves with the first matching update, including earlier ones. */
  update: (fits: (update: SessionUpdate, sessionId: string) => boolean) => Promise<SessionUpdate>;
  /** Received permission requests; `signal` shows whether the relay withdrew one. */
  asked: { request: RequestPermissionRequest; signal: AbortSignal }[];
  /** Calls of methods for the client's own files and terminals. */
  touched: string[];
  /** Resolves once the session has asked for permission, even if it asked before this call. */
  question: (sessionId: string) => Promise<void>;
}

/** A client that can disconnect. */
export interface Visitor extends Editor {
  hangUp(): void;
  /** Resolves after it has disconnected: with the exit code of the program, or with 0 after a close. */
  exit: Promise<number | null>;
}

export interface EditorOptions {
  permission?: (request: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse>;
  form?: (request: CreateElicitationRequest) => Promise<CreateElicitationResponse>;
}

/** Connects over any stream, including the handshake. */
export async function openEditor(stream: Stream, { permission, form }: EditorOptions = {}): Promise<Editor> {
  const updates: SessionNotification[] = [];
  const asked: Editor['asked'] = [];
  const touched: string[] = [];
  const wakes = new Set<() => void>();
  const wake = () => {
    for (const each of [...wakes]) each();
    wakes.clear();
  };
  /** Resolves with the first defined result. */
  const first = async <T>(find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => wakes.add(resolve));
    }
  };
  const connection = client({ name: 'test editor' })
    .onNotification('session/update', ({ params }) => {
      updates.push(params);
      wake();
    })
    .onRequest('session/request_permission', ({ params, signal }) => {
      asked.push({ request: params, signal });
      wake();
      return permission ? permission(params, signal) : new Promise(() => undefined);
    })
    .onRequest('elicitation/create', ({ params }) => (form ? form(params) : new Promise(() => undefined)))
    .onRequest('fs/read_text_file', () => (touched.push('read'), { content: '' }))
    .onRequest('fs/write_text_file', () => (touched.push('write'), {}))
    .onRequest('terminal/create', () => (touched.push('terminal'), { terminalId: 't' }))
    .connect(stream);
  const { agent } = connection;
  const initialized = await agent.request('initialize', {
    protocolVersion: 1,
    clientInfo: { name: 'test editor', version: '1' },
    clientCapabilities: {
      ...(form ? { elicitation: { form: {} } } : {}),
      session: { notices: {} },
      fs: { readTextFile: true, writeTextFile: true },
      terminal: true,
    },
  });
  return {
    connection,
    agent,
    initialized,
    updates,
    asked,
    touched,
    said: (sessionId) =>
      updates
        .filter((one) => one.sessionId === sessionId)
        .map(({ update }) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '',
        )
        .join(''),
    update: (fits) => first(() => updates.find(({ update, sessionId }) => fits(update, sessionId))?.update),
    question: async (sessionId) => {
      await first(() => asked.find(({ request }) => request.sessionId === sessionId));
    },
  };
}

/** Creates an ACP token, as a person does. */
export async function acpToken(
  relay: RelayAddress,
  deviceId: string,
  { user = 'alice', scopes }: { user?: string; scopes?: ('sessions:read' | 'sessions:write')[] } = {},
): Promise<{ id: string; token: string }> {
  const { status, body } = await relay.call('createAcpToken', {
    user,
    body: { deviceId, ...(scopes ? { scopes } : {}) },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
}

export interface SocketOptions extends EditorOptions {
  user?: string;
  /** The index of the api, 0 by default. */
  api?: number;
  /** By default a new ACP token. */
  token?: string;
  /** Appended to the path. */
  query?: string;
  protocols?: string[];
}

export const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 1 } };

/** Opens `/acp/<deviceId>` without a handshake. Rejects with `UpgradeRefused`. */
export async function openAcp(
  relay: RelayAddress,
  device: string,
  { api = 0, query = '', protocols = [], headers = {} }: SocketOptions & { headers?: Record<string, string> } = {},
) {
  const url = `${relay.apis[api]!.url.replace('http', 'ws')}/acp/${device}${query}`;
  const socket = new WebSocket(url, protocols, { headers });
  const upgraded = new Promise<Record<string, unknown>>((resolve) =>
    socket.once('upgrade', (response) => resolve(response.headers)),
  );
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const received: Record<string, unknown>[] = [];
  const wakes = new Set<() => void>();
  socket.on('message', (data: Buffer) => {
    received.push(JSON.parse(data.toString('utf8')) as Record<string, unknown>);
    for (const wake of wakes) wake();
  });
  await opened(socket);
  return {
    socket,
    closed,
    headers: await upgraded,
    received: received as readonly Record<string, unknown>[],
    send: (message: unknown) => socket.send(JSON.stringify(message)),
    /** Resolves with the first matching message, including earlier ones. */
    next: async (fits: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> => {
      for (;;) {
        const found = received.find(fits);
        if (found) return found;
        await new Promise<void>((resolve) => wakes.add(resolve));
      }
    },
  };
}

/** Runs `packages/acp/conformance/websocket.mjs` against an endpoint, and returns the lines of its checks. */
export const checkEndpoint = (url: string, token: string) =>
  new Promise<{ code: number; passed: string[]; failures: string[] }>((resolve) => {
    const program = file('packages/acp/conformance/websocket.mjs');
    execFile(process.execPath, [program, '--url', url.replace('http', 'ws'), '--token', token], (error, out) => {
      const lines = (start: string) => out.split('\n').filter((line) => line.startsWith(start));
      resolve({ code: error ? Number(error.code) : 0, passed: lines('ok'), failures: lines('FAIL') });
    });
  });

export type AcpScene = ReturnType<typeof acpScene>;

/** Starts machines and clients for a test, and cleans up after it. */
export function acpScene() {
  const later: (() => unknown)[] = [];
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'relay-acp-'));
    later.push(() => rmSync(path, { recursive: true, force: true }));
    return path;
  };
  return {
    folder,
    later: (work: () => unknown) => void later.push(work),
    /** A machine with the demonstration agent. */
    async machine(relay: RelayAddress, { user = 'alice' } = {}) {
      const { deviceId, refreshToken, agentType } = await registerDevice(relay, { user });
      const defaultPath = folder();
      const daemon = createDaemon({
        server: relay.gateways[0]!.url,
        deviceId,
        refreshToken,
        agentType,
        agent: acpAgent({
          program: process.execPath,
          args: [file('apps/daemon/scripts/demo-agent.mjs')],
          rules: { defaultPath },
          marker: defaultPath,
          env: { DEMO_AGENT_HOME: folder(), DEMO_AGENT_SETTINGS: 'config' },
          timings: { killAfterMs: 300, leaveMs: 2000 },
        }),
        exchange: exchangeOf({
          ...{ rules: { defaultPath }, folder: folder(), outside: false, sends: true },
          log: silentLog,
        }),
        // Lists the folder of its agent, and accepts the folders in it.
        browse: (path) => {
          const there = path === '' ? defaultPath : path;
          const isShown = there.startsWith(defaultPath) && existsSync(there);
          return Promise.resolve(isShown ? { path: there, folders: [] } : undefined);
        },
        storeDir: folder(),
        daemonVersion: '1.0.0',
        timings: { initialDelayMs: 20, maxDelayMs: 100 },
      });
      later.push(() => daemon.stop());
      daemon.start();
      await daemon.connected();
      return { deviceId, agentType, folder: defaultPath, daemon };
    },
    /** Runs `relay acp <device>` as a process, with an editor on its standard input and output. */
    async relayAcp(
      relay: RelayAddress,
      device: string,
      { args = [], user = 'alice', ...options }: EditorOptions & { args?: readonly string[]; user?: string } = {},
    ): Promise<Visitor & { errors: () => string }> {
      const child = spawn(process.execPath, [file('apps/cli/dist/bundle.js'), 'acp', device, ...args], {
        env: {
          ...process.env,
          RELAY_CLI_URL: relay.apis[0]!.url,
          RELAY_CLI_TOKEN: relay.token(user),
          RELAY_CLI_CONFIG_DIR: folder(),
        },
      });
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
      const exit = once(child, 'exit').then(([code]) => code as number | null);
      later.push(async () => {
        child.kill('SIGKILL');
        await exit;
      });
      const stream = ndJsonStream(
        Writable.toWeb(child.stdin),
        Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
      );
      const editor = await openEditor(stream, options);
      return { ...editor, exit, errors: () => errors, hangUp: () => child.stdin.end() };
    },
    /** Connects the client of the SDK to `/acp/<deviceId>`. */
    async acpSocket(
      relay: RelayAddress,
      device: string,
      options: SocketOptions = {},
    ): Promise<Visitor & { closed: Promise<number>; socket: WebSocket }> {
      const token = options.token ?? (await acpToken(relay, device, options)).token;
      const made: WebSocket[] = [];
      class Seen extends WebSocket {
        constructor(...args: ConstructorParameters<typeof WebSocket>) {
          super(...args);
          made.push(this);
        }
      }
      const { api = 0, query = '' } = options;
      const url = `${relay.apis[api]!.url.replace('http', 'ws')}/acp/${device}${query}`;
      const stream = createWebSocketStream(url, {
        protocols: ['acp.v1', `bearer.${token}`],
        WebSocket: Seen,
      });
      const socket = made[0]!;
      const closed = new Promise<number>((resolve) => socket.once('close', resolve));
      later.push(() => socket.terminate());
      const editor = await openEditor(stream, options);
      return { ...editor, socket, closed, exit: closed.then(() => 0), hangUp: () => socket.close(1000) };
    },
    async clear() {
      for (const work of later.splice(0).reverse()) await work();
    },
  };
}
