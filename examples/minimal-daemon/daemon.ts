/**
 * The smallest daemon in TypeScript: @relay/daemon-kit provides everything except the agent. Replace `answer` with your own agent.
 *
 *     npx tsc -p examples/minimal-daemon
 *     RELAY_SERVER=… RELAY_DEVICE_ID=… RELAY_REFRESH_TOKEN=… node examples/minimal-daemon/dist/daemon.js
 */
import { type Agent, type TurnReport, createDaemon, createLog } from '@relay/daemon-kit';

/** Answers a message, asks a question, fails, or works until cancelled. Reports exactly one result: complete, wait or error. */
async function answer(message: string, report: TurnReport, cancelled: AbortSignal): Promise<void> {
  report.progress('Thinking');
  if (message === 'fail') return report.error('I was asked to fail.');
  if (message === 'ask') return report.wait({ prompt: 'Which colour?', options: ['red', 'blue'] });
  if (message === 'hang') {
    return new Promise((resolve) => cancelled.addEventListener('abort', () => resolve(), { once: true }));
  }
  report.output(`Looking at ${message.length} characters.\n`);
  return report.complete(`You said: ${message}`);
}

const agent: Agent = {
  start({ message }, report) {
    const stop = new AbortController();
    const ended = answer(message, report, stop.signal);
    return {
      ended,
      async cancel() {
        stop.abort();
        await ended;
      },
    };
  },
};

const setting = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name}. "relay-daemon register --json" shows how a device is registered.`);
  return value;
};

const refreshToken = setting('RELAY_REFRESH_TOKEN');
const daemon = createDaemon({
  server: setting('RELAY_SERVER'),
  deviceId: setting('RELAY_DEVICE_ID'),
  refreshToken,
  agentType: process.env.RELAY_AGENT_TYPE ?? 'minimal',
  daemonVersion: '1.0.0',
  storeDir: process.env.RELAY_HOME ?? `${process.env.HOME ?? '.'}/.minimal-daemon`,
  agent,
  log: createLog({ write: (line) => void process.stderr.write(line), secrets: [refreshToken] }),
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void daemon.stop());
daemon.start();
const { reason, message } = await daemon.ended;
if (reason !== 'stopped') {
  process.stderr.write(`${message}\n`);
  process.exitCode = 78;
}
