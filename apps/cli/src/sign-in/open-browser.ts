/** Opens a link in the user's browser, if possible. Failures are ignored, because the link is printed as well. */
import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  // Not `start`, a shell builtin that would interpret the link.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export function openBrowser(link: string, env: NodeJS.ProcessEnv): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, link], { env, stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
