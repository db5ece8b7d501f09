// Prints the frames of /ws/attention, one line each: TOKEN=<access token> node examples/listen.mjs [base address]
// --json prints the raw frames. Exits with 0 on Ctrl-C, with 1 if the relay refuses or closes the connection.
import { WebSocket } from 'ws';

const options = process.argv.slice(2);
const address = options.find((option) => !option.startsWith('-')) ?? 'http://localhost:4000';
const fail = (why) => {
  process.stderr.write(`${why}\n`);
  process.exit(1);
};

const lines = {
  device_status: ({ status }) => status,
  session_update: ({ session: { status, progress, prompt } }) =>
    `${status.padEnd(8)} ${progress ? `${progress.action} ${progress.target}` : ''}${prompt ? prompt.prompt : ''}`,
  new_message: ({ message: { role, content } }) => `${role.padEnd(8)} ${JSON.stringify(content)}`,
  task_output: ({ output }) => JSON.stringify(output),
};
const lineOf = (frame) => `${frame.type.padEnd(15)} ${lines[frame.type]?.(frame) ?? ''}`.trimEnd();

if (!process.env.TOKEN) fail('Set TOKEN to an access token: export TOKEN=$(npm run --silent dev:token)');
const socket = new WebSocket(new URL('/ws/attention?events=output', address.replace(/^http/, 'ws')), {
  headers: { Authorization: `Bearer ${process.env.TOKEN}` },
});
socket.on('open', () => process.stderr.write(`Listening to ${address}. Ctrl-C ends it.\n`));
socket.on('message', (text) => console.log(options.includes('--json') ? String(text) : lineOf(JSON.parse(text))));
socket.on('close', (code, reason) => fail(`The relay closed the connection: ${code} ${reason}`));
socket.on('error', (error) => fail(`No connection to ${address}: ${error.message || error.code}`));
socket.on('unexpected-response', async (_request, response) => {
  const body = (await response.toArray()).join('');
  fail(`The relay refused with ${response.statusCode}: ${body}`);
});
process.on('SIGINT', () => process.exit(0));
