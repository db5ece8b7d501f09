// Loaded into a server with --import: tells the bench, when asked, how long requests took in there and what they cost. It
// listens to Node's own diagnostics channels, so the code that is measured is the code that is shipped.
//
// A request lasts from the moment its head was parsed until its answer was handed to the operating system: the network and
// the client are not in it, everything the server does or waits for is.
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
        /** Resident, less what V8 keeps in reserve for later: what is in use. */
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
