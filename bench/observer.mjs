// Loaded into a server with --import: on request, reports to the bench how long requests took there and their cost. It
// listens to Node's own diagnostics channels, so the measured code is the shipped code.
//
// A request lasts from the parsed head until the operating system has its answer: this excludes the network and the
// client, and includes all work and waiting of the server.
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.send) observe();

function observe() {
  const startedAt = new WeakMap();
  let durationsMs = [];
  subscribe('http.server.request.start', ({ request }) => startedAt.set(request, performance.now()));
  subscribe('http.server.response.finish', ({ request }) => {
    durationsMs.push(performance.now() - startedAt.get(request));
  });

  let cpu = process.cpuUsage();
  let mainMs = mainThreadMs();
  process.on('message', ({ id, what }) => {
    if (what === 'memory') {
      globalThis.gc();
      const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
      const mb = (bytes) => bytes / 1e6;
      process.send({
        id,
        resident: mb(rss),
        /** Memory in use: resident, less the reserve of V8. */
        inUse: mb(rss - heapTotal + heapUsed),
        heap: mb(heapUsed),
        external: mb(external),
        buffers: mb(arrayBuffers),
      });
      return;
    }
    const used = process.cpuUsage(cpu);
    const mainNow = mainThreadMs();
    process.send({ id, durationsMs, cpuMs: (used.user + used.system) / 1000, mainCpuMs: mainNow - mainMs });
    durationsMs = [];
    cpu = process.cpuUsage();
    mainMs = mainThreadMs();
  });
}

/** Processor time of this thread alone (Linux): the database of the single process works in another one. */
function mainThreadMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return NaN;
  }
}
