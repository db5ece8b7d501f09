/**
 * Promise: the call of an editor through `relay acp` survives a kill of every part of the relay, in each phase of a
 * prompt; the call completes once, with the whole text.
 */
import type { PromptResponse } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type Instance, type RelayAddress, startCluster } from '@relay/testing';
import { prompt, words } from '../acp-rows.ts';
import { acpScene } from '../acp-scene.ts';
import { until } from './until.ts';

const question = 'I would like to delete it.';

/** Kills and restarts a part of the relay. */
interface Fault {
  down: () => Promise<unknown>;
  up: () => Promise<unknown>;
  /** Replaces one instance after the other. */
  rolling: () => Promise<unknown>;
}

describe('a prompt of an editor', () => {
  const scene = acpScene();
  const printed: string[] = [];
  let cluster: Cluster;
  let relay: RelayAddress;
  let editor: Awaited<ReturnType<typeof scene.relayAcp>>;
  let folder: string;
  let deviceId: string;
  /** Releases the answer of the person at the editor. */
  let answer: () => void;
  let answered: Promise<void>;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, haproxy: 'plain' });
    const door = { url: cluster.haproxy!.url };
    relay = { ...cluster, apis: [door], gateways: [door] };
    ({ deviceId, folder } = await scene.machine(relay));
    const permission = () => answered.then(() => ({ outcome: { outcome: 'selected' as const, optionId: 'y' } }));
    // The device is offline for a moment while both gateways are down.
    editor = await scene.relayAcp(relay, deviceId, { args: ['--queue', '60'], permission });
  }, 180_000);
  afterAll(async () => {
    process.stdout.write(`${printed.join('\n')}\n`);
    await scene.clear();
    await cluster.stop();
  });

  const all = (instances: readonly Instance[]): Fault => ({
    down: () => Promise.all(instances.map((each) => each.kill())),
    up: () => Promise.all(instances.map((each) => each.start())),
    rolling: async () => {
      for (const each of instances) {
        await each.kill();
        await each.start();
      }
    },
  });
  const redis = (): Fault => {
    const down = () => cluster.redis.kill();
    const up = () => cluster.redis.restart();
    return { down, up, rolling: () => down().then(up) };
  };
  const faults: readonly [name: string, fault: () => Fault][] = [
    ['the apis', () => all(cluster.apis)],
    ['the gateways', () => all(cluster.gateways)],
    ['Redis', redis],
  ];

  /** A session, and the number of its completed calls. */
  interface Talk {
    id: string;
    ends: number;
    say: (text: string) => Promise<PromptResponse>;
    shown: (text: string) => Promise<unknown>;
  }
  type Phase = readonly [name: string, said: string, run: (talk: Talk, fault: Fault) => Promise<PromptResponse[]>];
  const phases: readonly Phase[] = [
    [
      'before the relay has it',
      'first messagesecond',
      async ({ say }, { down, up }) => {
        await down();
        const ended = say('two');
        await up();
        return [await ended];
      },
    ],
    [
      'while it waits behind a question',
      `${question} permission: yfirst messagesecond`,
      async ({ id, say }, { down, up }) => {
        const before = say('perm');
        await editor.question(id);
        const ended = say('two');
        await until('it waits', async () => {
          const { sessions } = (await relay.call('listSessions', { query: { deviceId, status: 'waiting' } })).body;
          return sessions.some(({ queue }) => queue?.count === 1);
        });
        await down();
        await up();
        answer();
        return [await before, await ended];
      },
    ],
    [
      'while its agent speaks',
      words,
      async ({ say, shown }, { rolling }) => {
        const ended = say('slow');
        await shown('w0 ');
        await rolling();
        return [await ended];
      },
    ],
    [
      'while its agent asks',
      `${question} permission: y`,
      async ({ id, say }, { down, up }) => {
        const ended = say('perm');
        await editor.question(id);
        await down();
        await up();
        answer();
        return [await ended];
      },
    ],
    [
      'when the answer is given',
      `${question} permission: y`,
      async ({ id, say }, { down, up }) => {
        const ended = say('perm');
        await editor.question(id);
        await down();
        answer();
        await up();
        return [await ended];
      },
    ],
    [
      'at its last words',
      words,
      async ({ say, shown }, { down, up }) => {
        const ended = say('slow');
        await shown('w399');
        await down();
        await up();
        return [await ended];
      },
    ],
  ];

  describe.each(phases)('%s', (phase, said, run) => {
    it.each(faults)(
      'completes once, with the whole text, after a kill of %s',
      async (killed, fault) => {
        answered = new Promise((resolve) => (answer = resolve));
        const { sessionId: id } = await editor.agent.request('session/new', { cwd: folder, mcpServers: [] });
        const talk: Talk = {
          id,
          ends: 0,
          say: async (text) => {
            try {
              return await editor.agent.request<PromptResponse>('session/prompt', prompt(id, text));
            } finally {
              talk.ends += 1;
            }
          },
          shown: (text) =>
            editor.update(
              (update, sessionId) => sessionId === id && 'content' in update && JSON.stringify(update).includes(text),
            ),
        };
        const responses = await run(talk, fault());
        expect(responses).toEqual(responses.map(() => ({ stopReason: 'end_turn' })));
        expect(editor.said(id).trim()).toBe(said);
        expect(talk.ends).toBe(responses.length);
        const stops = responses.map(({ stopReason }) => stopReason).join(', ');
        const length = editor.said(id).trim().length;
        printed.push(
          `relay acp: killed ${phase}: ${killed}; ${talk.ends} × ${stops}; ${length} of ${said.length} characters`,
        );
      },
      120_000,
    );
  });
});
