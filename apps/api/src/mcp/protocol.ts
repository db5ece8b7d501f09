/** One request of the Model Context Protocol → its answer, by its official library. The only file that knows the library. */
import { type AgentTool, agentTools } from '@relay/protocol';
import {
  type CallToolResult,
  Server,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  isLegacyRequest,
} from '@modelcontextprotocol/server';
import type { Request as Incoming } from 'express';
import type { ApiDeps } from '../deps.ts';

/** Calls a tool. Never rejects: a refusal is a result with `isError`. */
type CallTool = (name: AgentTool, given: unknown, meta: Readonly<Record<string, unknown>>) => Promise<ToolResult>;

export interface ToolResult {
  readonly isError: boolean;
  readonly value: Readonly<Record<string, unknown>>;
}

const instructions =
  "Runs other agents on this person's other machines, through the relay. list_devices, start_session, then wait_for_turn until it has ended. Agents there work in that machine's folders and see nothing of this conversation.";

const tools = Object.entries(agentTools).map(([name, { title, description, input, reads }]) => ({
  name,
  title,
  description,
  inputSchema: JSON.parse(JSON.stringify(input)) as { type: 'object' },
  annotations: { readOnlyHint: reads, destructiveHint: !reads, openWorldHint: true },
}));

const isTool = (name: string): name is AgentTool => Object.hasOwn(agentTools, name);

const unknownTool = (name: string): ToolResult => ({
  isError: true,
  value: { code: 'NOT_FOUND', error: `There is no tool "${name.slice(0, 64)}". tools/list names all.` },
});

const toResult = ({ isError, value }: ToolResult): CallToolResult => ({
  content: [
    { type: 'text', text: isError ? `${String(value['code'])}: ${String(value['error'])}` : JSON.stringify(value) },
  ],
  structuredContent: value,
  ...(isError ? { isError } : {}),
});

/**
 * Answers the message `body` of `incoming`. A notification has the answer 202 without a body. Serves both generations of the protocol: with a
 * handshake, and the version of 2026-07-28, whose requests carry everything.
 */
export async function answerMcp(
  incoming: Incoming,
  body: unknown,
  { config, version }: Pick<ApiDeps, 'config' | 'version'>,
  call: CallTool,
): Promise<{ status: number; body: string }> {
  const create = () => {
    const server = new Server(
      { name: 'agent-session-relay', title: 'Agent session relay', version },
      { capabilities: { tools: {} }, instructions },
    );
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const { name, arguments: given = {} } = params;
      return toResult(isTool(name) ? await call(name, given, mcpReq._meta ?? {}) : unknownTool(name));
    });
    return server;
  };
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    if (typeof value === 'string' && name !== 'authorization') headers.set(name, value);
  const request = new Request(`${config.publicUrl}/mcp`, { method: 'POST', headers });
  const parsed = { parsedBody: body };
  const answer = (await isLegacyRequest(request, body))
    ? await legacyAnswer(create(), request, parsed)
    : await createMcpHandler(create, { legacy: 'reject', responseMode: 'json', maxSubscriptions: 0 }).fetch(
        request,
        parsed,
      );
  return { status: answer.status, body: await answer.text() };
}

/** One server for one request: it keeps no state. */
async function legacyAnswer(server: Server, request: Request, parsed: { parsedBody: unknown }): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, parsed);
  } finally {
    await server.close();
  }
}
