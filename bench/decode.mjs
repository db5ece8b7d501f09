// The cost of decoding a frame, next to JSON.parse alone: `npm run build && node bench/decode.mjs`. Prints, asserts nothing.
import { decodeDaemonFrame } from '@relay/protocol';
import { registry } from '@relay/protocol/documents';

const roundMs = 150;
const rounds = 5;

/** Best of several rounds, in nanoseconds per call: the round with the least disturbance. */
function measure(call, text) {
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    let calls = 0;
    const startedAt = performance.now();
    while (performance.now() - startedAt < roundMs) {
      for (let i = 0; i < 100; i += 1) call(text);
      calls += 100;
    }
    best = Math.min(best, ((performance.now() - startedAt) * 1e6) / calls);
  }
  return best;
}

const example = (name) => registry[`from-daemon.${name}`].example;
const [entry] = example('report_sessions').sessions;
const sessions = Array.from({ length: 200 }, (_, index) => ({ ...entry, session_id: `${entry.session_id}-${index}` }));
const older = sessions.map(({ session_id: id, project: project_path, ...rest }) => ({ id, project_path, ...rest }));

const frames = {
  PROGRESS: example('event.PROGRESS'),
  'OUTPUT, 4 KiB of lines': { ...example('event.OUTPUT'), output: 'a line of output\n'.repeat(240) },
  TASK_COMPLETE: example('event.TASK_COMPLETE'),
  status: example('status'),
  'report of 200 sessions': { ...example('report_sessions'), sessions },
  'the same, older spelling': { ...example('report_sessions'), sessions: older },
};

console.log(`${'frame'.padEnd(26)} ${'bytes'.padStart(7)} ${'JSON.parse'.padStart(12)} ${'decode'.padStart(12)}`);
for (const [name, frame] of Object.entries(frames)) {
  const text = JSON.stringify(frame);
  const [parse, decode] = [JSON.parse, decodeDaemonFrame].map((call) => `${measure(call, text).toFixed(0)} ns`);
  console.log(`${name.padEnd(26)} ${String(text.length).padStart(7)} ${parse.padStart(12)} ${decode.padStart(12)}`);
}
