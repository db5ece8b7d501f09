/** An ACP client that stops reading: one row for a relay of one process and for a cluster. */
import type { SessionNotification } from '@agentclientprotocol/sdk';
import { expect, it } from '@jest/globals';
import { type RelayAddress, registerDevice } from '@relay/testing';
import { prompt } from './acp-rows.ts';
import { acpToken, initialize, openAcp } from './acp-scene.ts';
import { connectTranscriptDaemon, item, put } from './browser/transcript-daemon.ts';
import { until } from './cluster/until.ts';

/** `metrics` are those of the first api, whose `TEST_SLOW_READER_STALL_MS` must be short. */
export function stalledReader(relay: () => RelayAddress, metrics: () => Promise<string>): void {
  it('is closed with 1013 when it stops reading; the turn continues, and the other api has all of it', async () => {
    const user = 'olga';
    const daemon = await connectTranscriptDaemon(relay(), await registerDevice(relay(), { user }));
    const { token } = await acpToken(relay(), daemon.deviceId, { user });
    const connect = async (api: number) => {
      const open = await openAcp(relay(), daemon.deviceId, { api, protocols: ['acp.v1', `bearer.${token}`] });
      let id = 0;
      const ask = (method: string, params: object) => {
        const asked = (id += 1);
        open.send({ jsonrpc: '2.0', id: asked, method, params });
        return open.next((message) => message['id'] === asked);
      };
      await ask('initialize', initialize.params);
      return { ...open, ask };
    };
    const { socket, ask, next, closed } = await connect(0);
    const { result } = await ask('session/new', { cwd: '/', mcpServers: [] });
    const { sessionId } = result as { sessionId: string };
    void ask('session/prompt', prompt(sessionId, 'go'));
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'native' });
    const text = 'x'.repeat(30_000);
    let said = 0;
    const say = () => {
      said += 1;
      daemon.say(taskId, 'native', [put(item(`u-${said}`, said, { kind: 'text' }, `${text}${said}`))]);
    };
    say();
    await next(({ method }) => method === 'session/update');
    socket.pause();
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    await until(
      'the api closes it',
      async () => {
        // The relay allows a daemon 200 frames a second. 220 texts are more than the buffers of the kernel and of the relay, and less than the
        // 8 MiB of a history that the client loads.
        for (let more = 0; more < 10 && said < 220; more += 1) say();
        return (await metrics()).includes('relay_acp_closes_total{code="1013"');
      },
      150_000,
    );
    expect(isClosed).toBe(false);
    socket.resume();
    // The close frame follows all unread frames, and the api waits at most a second for the reply.
    expect([1006, 1013]).toContain(await closed);

    daemon.event(taskId, 'TASK_COMPLETE', { session_id: 'native', result: 'done' });
    const again = await connect(1);
    await again.ask('session/load', { sessionId, cwd: '/', mcpServers: [] });
    /** The number at the end of each text. */
    const numbers = ({ params }: Record<string, unknown>) => {
      const { update } = (params ?? {}) as Partial<SessionNotification>;
      if (update?.sessionUpdate !== 'agent_message_chunk' || update.content.type !== 'text') return [];
      return [Number(update.content.text.slice(text.length))];
    };
    await again.next((message) => numbers(message)[0] === said);
    expect(again.received.flatMap(numbers)).toEqual(Array.from({ length: said }, (_, n) => n + 1));
    const params = { id: `${daemon.deviceId}:scripted:native` };
    await until('the turn is over', async () => {
      const { body } = await relay().call('readSession', { user, params, query: { limit: 1 } });
      return body.status === 'idle';
    });
    again.socket.close();
    await daemon.close();
  }, 240_000);
}
