/**
 * Rules, 20.9: random agents with a known true story, through a whole relay: live, reloaded, after restarts of the
 * daemon and the relay.
 */
import { afterAll, afterEach, expect, it } from '@jest/globals';
import { type TestRelay, registerDevice } from '@relay/testing';
import { type RelayStage, openRelayStage } from './relay-stage.ts';
import { type Fault, foldersOf } from './stage.ts';
import { type Step, storyOf } from './story.ts';

const count = Number(process.env.RELAY_STORIES ?? 5);
const first = Number(process.env.STORY_SEED ?? 1);
const folders: ReturnType<typeof foldersOf>[] = [];
const stages: RelayStage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});
afterAll(() => folders.forEach(({ remove }) => remove()));

const isChunk = (step: Step) => step.do === 'update' && step.update.sessionUpdate === 'agent_message_chunk';
const faults: [string, Fault][] = [
  ['a dropped update of the agent', { step: (step) => (isChunk(step) ? [] : [step]) }],
  ['a dropped operation', { ops: (ops) => ops.filter(({ op }) => op !== 'add') }],
  ['another order of a page', { page: (items) => items.toReversed() }],
];

async function open(): Promise<RelayStage> {
  const folder = foldersOf();
  folders.push(folder);
  const stage = await openRelayStage(folder.root, (relay: TestRelay) => registerDevice(relay, { agentType: 'story' }));
  stages.push(stage);
  return stage;
}

it(`A7 B1 B3 B4 B5 W1: ${count} stories from seed ${first} are shown as they happened through a relay`, async () => {
  const stage = await open();
  const differences: string[] = [];
  for (let at = 0; at < count && differences.length < 5; at++) {
    const problem = await stage.play(storyOf(first + at)).catch((error: unknown) => String(error).slice(0, 300));
    if (problem !== undefined) differences.push(`seed ${first + at}: ${problem}`);
  }
  differences.push(...(await stage.compare('reloaded')));
  await stage.restartDaemon();
  differences.push(...(await stage.compare('after a restart of the daemon')));
  await stage.restartRelay();
  differences.push(...(await stage.compare('after a kill of the relay')));
  expect(differences).toEqual([]);
}, 3_600_000);

it.each(faults)('detects %s within 10 stories through a relay', async (_name, fault) => {
  const stage = await open();
  let found: string | undefined;
  for (let seed = 1; seed <= 10 && found === undefined; seed++)
    found = (await stage.play(storyOf(seed), fault)) ?? (await stage.compare('reloaded', fault))[0];
  expect(found).toEqual(expect.any(String));
});
