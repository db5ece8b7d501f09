/**
 * An agent that uses other machines of its person: the client of the official MCP library, at the `/mcp` endpoint of a
 * relay.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { RelayAddress } from '@relay/testing';

export interface ToolAnswer {
  isError: boolean;
  text: string;
  value: Record<string, unknown>;
}

export interface TestAgent {
  client: Client;
  tool(name: string, given?: Record<string, unknown>, meta?: Record<string, unknown>): Promise<ToolAnswer>;
  /** Calls `wait_for_turn` until the turn is neither queued nor running. */
  ended(turn: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export interface AgentOptions {
  user?: string;
  scopes?: readonly string[];
  /** Skips the handshake, as the protocol allows since 2026-07-28. */
  modern?: boolean;
}

export async function connectAgent(relay: RelayAddress, options: AgentOptions = {}): Promise<TestAgent> {
  const { user = 'alice', scopes = ['agents:drive'], modern = false } = options;
  const authProvider = { token: () => Promise.resolve(relay.token(user, { scopes })) };
  const versionNegotiation = { mode: modern ? { pin: '2026-07-28' } : ('legacy' as const) };
  const client = new Client({ name: 'test agent', version: '1' }, { versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${relay.apis[0]!.url}/mcp`), { authProvider }));
  const tool: TestAgent['tool'] = async (name, given = {}, meta) => {
    const answer = await client.callTool({ name, arguments: given, ...(meta ? { _meta: meta } : {}) });
    const [first] = answer.content;
    return {
      isError: answer.isError === true,
      text: first?.type === 'text' ? first.text : '',
      value: answer.structuredContent as Record<string, unknown>,
    };
  };
  return {
    client,
    tool,
    async ended(turn) {
      for (;;) {
        const { isError, text, value } = await tool('wait_for_turn', turn);
        if (isError) throw new Error(text);
        if (value['state'] !== 'queued' && value['state'] !== 'running') return value;
      }
    },
    close: () => client.close(),
  };
}
