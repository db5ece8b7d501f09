/** Shows a link in the person's browser, if there is one. Failing is no error: the link is printed as well. */
import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  // Not `start`, which is a shell's own and would interpret the link.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export function openBrowser(link: string, env: NodeJS.ProcessEnv): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, link], { env, stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
