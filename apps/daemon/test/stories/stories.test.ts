/**
 * Rules, 20.9: random agents with a known true story. An app must show that story: live, reloaded and after a restart.
 */
import { afterAll, expect, it } from '@jest/globals';
import { foldersOf, play } from './stage.ts';
import { storyOf } from './story.ts';

const count = Number(process.env.STORIES ?? 100);
const first = Number(process.env.STORY_SEED ?? 1);
const folders = foldersOf();
afterAll(() => folders.remove());

it(`B1 B3 B4 B5 A3 W1 D9: ${count} stories from seed ${first} are shown as they happened`, async () => {
  const differences: string[] = [];
  for (let at = 0; at < count && differences.length < 5; at++) {
    const problem = await play(storyOf(first + at), folders.root);
    if (problem !== undefined) differences.push(`seed ${first + at}: ${problem}`);
    if ((at + 1) % 2000 === 0) process.stderr.write(`${at + 1} stories\n`);
  }
  expect(differences).toEqual([]);
}, 3_600_000);
