#!/usr/bin/env node
/**
 * Checks an ACP endpoint on a WebSocket from outside: the duties of the transport (RFD "Streamable HTTP & WebSocket Transport"), and the
 * duties of the protocol, version 1, that need no talking agent. Runs against any endpoint; starts no turn.
 *
 *     node packages/acp/conformance/websocket.mjs --url wss://relay.example.com/acp/<device> --token rly_acp_… [--cwd /home/ada]
 *
 * Prints one line per check. Exits with 1 if a check failed.
 */
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';

const timeoutMs = 15_000;
const { values } = parseArgs({
  options: { url: { type: 'string' }, token: { type: 'string' }, cwd: { type: 'string', default: '/' } },
});
const { url, token, cwd } = values;
if (url === undefined) {
  console.error(
    'usage: websocket.mjs --url <ws or wss address> [--token <bearer token>] [--cwd <folder of the agent>]',
  );
  process.exit(2);
}

const within = (promise, what) =>
  Promise.race([
    promise,
    new Promise((_, reject) => setTimeout(() => reject(new Error(`${what}: nothing for ${timeoutMs} ms`)), timeoutMs)),
  ]);

/** Opens one connection. `how`: sends the credential in a header, in a subprotocol, or not at all. */
async function connect(how = 'header') {
  const headers = how === 'header' && token !== undefined ? { Authorization: `Bearer ${token}` } : {};
  const protocols = how === 'subprotocol' ? ['acp.v1', `bearer.${token}`] : [];
  const socket = new WebSocket(url, protocols, { headers });
  const received = [];
  const wakes = new Set();
  const wake = () => wakes.forEach((one) => one());
  const at = { binary: 0 };
  socket.on('message', (data, isBinary) => {
    if (isBinary) at.binary += 1;
    received.push(JSON.parse(data.toString('utf8')));
    wake();
  });
  const closed = new Promise((resolve) => socket.once('close', (code) => resolve(code)));
  void closed.then(wake);
  let upgraded = {};
  socket.once('upgrade', (response) => (upgraded = response.headers));
  await within(
    new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
      socket.once('unexpected-response', (_request, response) => {
        reject(Object.assign(new Error(`refused with ${response.statusCode}`), { response }));
        socket.terminate();
      });
    }),
    'the upgrade',
  );
  const next = (fits) =>
    within(
      (async () => {
        for (;;) {
          const found = received.find(fits);
          if (found) return found;
          if (socket.readyState >= WebSocket.CLOSING) throw new Error(`closed with ${await closed}`);
          await new Promise((resolve) => wakes.add(resolve));
        }
      })(),
      'an answer',
    );
  let lastId = 0;
  const ask = async (method, params) => {
    const id = (lastId += 1);
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return next((message) => message.id === id && message.method === undefined);
  };
  return {
    ...{ socket, received, closed, next, ask, at },
    connectionId: upgraded['acp-connection-id'],
    initialize: (protocolVersion = 1) => ask('initialize', { protocolVersion, clientCapabilities: {} }),
    close: () => socket.close(1000),
  };
}

function expect(condition, what, found) {
  if (!condition) throw new Error(`${what}; found ${JSON.stringify(found)}`);
}

const checks = {
  'RFD: the answer to the upgrade has a visible Acp-Connection-Id, another for each connection': async () => {
    const both = [await connect(), await connect()];
    for (const { connectionId, close } of both) {
      expect(/^[\x21-\x7e]+$/.test(connectionId ?? ''), 'expected a header of visible ASCII', connectionId);
      close();
    }
    expect(both[0].connectionId !== both[1].connectionId, 'expected two ids', both[0].connectionId);
  },
  'RFD: initialize is the first message and is answered with version 1, also when a later one is asked for':
    async () => {
      for (const version of [1, 2]) {
        const connection = await connect();
        const { result } = await connection.initialize(version);
        expect(result?.protocolVersion === 1, 'expected protocolVersion 1', result);
        expect(typeof result.agentCapabilities === 'object', 'expected agentCapabilities', result);
        connection.close();
      }
    },
  'RFD: another first message is not served': async () => {
    const connection = await connect();
    const answer = await connection.ask('session/list', {}).catch((error) => ({ error: String(error) }));
    expect(answer.result === undefined, 'expected an error or the end of the connection', answer);
    connection.close();
  },
  'RFD: binary frames are ignored, and none is sent': async () => {
    const connection = await connect();
    await connection.initialize();
    connection.socket.send(Buffer.from('{"jsonrpc":"2.0","id":"binary","method":"session/list","params":{}}'));
    await connection.ask('session/list', {});
    expect(!connection.received.some(({ id }) => id === 'binary'), 'expected no answer to it', connection.received);
    expect(connection.at.binary === 0, 'expected text frames', connection.at);
    connection.close();
  },
  'JSON-RPC: what is no JSON is answered with -32700, and the connection stays': async () => {
    const connection = await connect();
    await connection.initialize();
    connection.socket.send('{');
    const { id } = await connection.next(({ error }) => error?.code === -32700);
    expect(id === null, 'expected the id null', id);
    await connection.ask('session/list', {});
    connection.close();
  },
  'RFD: batches are refused': async () => {
    const connection = await connect();
    await connection.initialize();
    connection.socket.send(JSON.stringify([{ jsonrpc: '2.0', id: 'batched', method: 'session/list', params: {} }]));
    await connection.next(({ error }) => error?.code === -32600);
    expect(!connection.received.some(({ id }) => id === 'batched'), 'expected no answer to it', connection.received);
    connection.close();
  },
  'JSON-RPC: an unknown method is -32601, wrong parameters are -32602, an unknown notification is ignored':
    async () => {
      const connection = await connect();
      await connection.initialize();
      connection.socket.send(JSON.stringify({ jsonrpc: '2.0', method: '$/unheard' }));
      const unknown = await connection.ask('unheard/of', {});
      expect(unknown.error?.code === -32601, 'expected -32601', unknown);
      const wrong = await connection.ask('session/prompt', { sessionId: 7 });
      expect(wrong.error?.code === -32602, 'expected -32602', wrong);
      connection.close();
    },
  'ACP: each session/new gives an id of its own': async () => {
    const connection = await connect();
    await connection.initialize();
    const ids = [];
    for (let n = 0; n < 2; n += 1) {
      const { result, error } = await connection.ask('session/new', { cwd, mcpServers: [] });
      expect(typeof result?.sessionId === 'string', 'expected a sessionId', error ?? result);
      ids.push(result.sessionId);
    }
    expect(ids[0] !== ids[1], 'expected two ids', ids);
    connection.close();
  },
  'ACP: a session that there is not cannot be loaded': async () => {
    const connection = await connect();
    const { result } = await connection.initialize();
    if (!result.agentCapabilities.loadSession) return;
    const answer = await connection.ask('session/load', { sessionId: 'there-is-none', cwd, mcpServers: [] });
    expect(answer.error !== undefined, 'expected an error', answer);
    connection.close();
  },
};
if (token !== undefined) {
  checks['HTTP: without a credential the upgrade is refused with 401 and WWW-Authenticate'] = async () => {
    const error = await connect('none').then(
      () => undefined,
      (refused) => refused,
    );
    expect(error?.response?.statusCode === 401, 'expected 401', error?.message);
    expect('www-authenticate' in error.response.headers, 'expected WWW-Authenticate', error.response.headers);
  };
  checks['RFC 6455: of the offered subprotocols one is chosen that is not the credential'] = async () => {
    const connection = await connect('subprotocol');
    expect(connection.socket.protocol === 'acp.v1', 'expected acp.v1', connection.socket.protocol);
    await connection.initialize();
    connection.close();
  };
}

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n      ${error instanceof Error ? error.message : String(error)}`);
  }
}
console.log(failed === 0 ? `All ${Object.keys(checks).length} checks passed.` : `${failed} checks failed.`);
process.exit(failed === 0 ? 0 : 1);
