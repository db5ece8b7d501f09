// Transcripts at the daemon: a page of a long session read from its file, and the memory of a long turn.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '@relay/daemon-kit';
import { startRelayDouble } from '@relay/daemon-kit/conformance';
import { minutes, operationsOf, playTurn } from '../daemon/play-turn.mjs';
import { Table } from '../measure.mjs';

const fileBytes = 16 * 1024 * 1024;
const pageItems = 50;
const reads = 20;
const faster = 30;

/** A session whose file has this size, with items of the sizes that agents write. */
function longSession(folder, bytes) {
  const store = openStore(folder);
  store.create('long', '/');
  const sizes = [200, 1200, 400, 6000, 300, 2500];
  const [file] = [join(folder, 'long.jsonl')];
  let count = 0;
  while (statSync(file).size < bytes) {
    const items = Array.from({ length: 200 }, (_, n) => {
      const number = count + n;
      const content = `${number}: ${'words of a conversation '.repeat(sizes[number % sizes.length] / 24)}`;
      const part = { kind: number % 3 === 0 ? 'user' : 'text' };
      return { uuid: `item-${number}`, role: number % 3 === 0 ? 'USER' : 'AGENT', content, part };
    });
    store.take('long', items);
    count += items.length;
  }
  return { store, count };
}

export async function transcriptPages({ rounds, progress, folder, share }) {
  const pages = new Table(`A page of ${pageItems} items from a file of ${(fileBytes * share) / 1024 / 1024} MiB: ms`);
  progress('writing the file');
  const { store, count } = longSession(folder(), fileBytes * share);
  const from = { 'the newest': undefined, 'from the middle': count >> 1, 'the oldest': pageItems + 1 };
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, before] of Object.entries(from)) {
      const request = { limit: pageItems, ...(before === undefined ? {} : { beforeUuid: `item-${before}` }) };
      const began = performance.now();
      for (let n = 0; n < reads; n += 1) {
        const page = store.items('long', request);
        if (page.items.length !== pageItems) throw new Error(`a page has ${page.items.length} items`);
      }
      if (round > 0) pages.add(name, 'ms', (performance.now() - began) / reads);
    }
  }
  return [pages];
}

export async function transcriptTurn({ rounds, progress, share }) {
  const count = operationsOf(share);
  const title = `A turn of ${minutes * share} minutes and ${count} updates at a daemon`;
  const table = new Table(`${title}: memory in MB`);
  const cost = new Table(`${title}: cost`);
  for (let round = 1; round <= rounds; round += 1) {
    progress(`turn ${round} of ${rounds}`);
    const relay = await startRelayDouble({ declares: ['transcript', 'prompts'] });
    const memory = [];
    const turn = await playTurn({ server: relay.url, share, faster, weighed: (one) => memory.push(one) });
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 'turn', instruction: 'Work' });
    const { cpuUs, fileMB } = await turn.over;
    await relay.close();
    const at = (part) => memory[Math.round((memory.length - 1) * part)];
    for (const [name, part] of Object.entries({
      'after a quarter': 0.25,
      half: 0.5,
      'three quarters': 0.75,
      'the end': 1,
    })) {
      table.add(name, 'JavaScript', at(part).heapMB);
      table.add(name, 'resident', at(part).residentMB);
    }
    cost.add('daemon', 'CPU µs per update', cpuUs);
    cost.add('daemon', 'file MB', fileMB);
  }
  return [table, cost];
}
