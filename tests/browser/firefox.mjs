#!/usr/bin/env node
/**
 * Starts the system's Firefox for Playwright, with its arguments. Playwright sends every browser the media features of
 * its pages with a command that this Firefox does not know: this program answers it, and passes all others on.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { WebSocket, WebSocketServer } from 'ws';

const unknown = 'emulation.setMediaFeaturesOverride';
const firefox = spawn(process.env.FIREFOX ?? '/usr/bin/firefox-esr', process.argv.slice(2), {
  stdio: ['inherit', 'inherit', 'pipe'],
});
firefox.on('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => firefox.kill(signal));

/** Queues messages until the other side is open. */
function pass(from, to, take = () => false) {
  const waiting = [];
  to.on('open', () => waiting.splice(0).forEach((data) => to.send(data)));
  from.on('message', (data) => {
    const text = data.toString();
    if (take(text)) return;
    if (to.readyState === WebSocket.OPEN) to.send(text);
    else waiting.push(text);
  });
  from.on('close', () => to.close());
  from.on('error', () => to.close());
}

createInterface({ input: firefox.stderr }).on('line', (line) => {
  const [, url] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
  if (url === undefined) return void process.stderr.write(`${line}\n`);
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, () =>
    process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${server.address().port}\n`),
  );
  server.on('connection', (playwright, { url: path }) => {
    const browser = new WebSocket(`${url}${path}`, { maxPayload: 256 * 1024 * 1024, perMessageDeflate: false });
    pass(playwright, browser, (text) => {
      const { id, method } = JSON.parse(text);
      if (method !== unknown) return false;
      playwright.send(JSON.stringify({ type: 'success', id, result: {} }));
      return true;
    });
    pass(browser, playwright);
  });
});
