/** The program of an api, one of several instances of the users' door. */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readConfig } from '@relay/config';
import { runService } from '@relay/service';
import { isForPeople, openInstance, versionOf } from '@relay/service/instance';
import { openApi } from './open.ts';

const web = { directory: fileURLToPath(new URL('../../web/dist', import.meta.url)) };
const docs = { directory: fileURLToPath(new URL('../../docs/dist', import.meta.url)) };
const downloads = { daemon: fileURLToPath(new URL('../../daemon/dist/relay-daemon.tgz', import.meta.url)) };
/** A daemon is asked and has answered within this time, or the request is refused: longer than the slowest answer. */
const lastAnswersMs = 15_000;
/**
 * An edge that checks every second has noticed that this instance leaves. Until then it sends requests over open connections,
 * and closing a connection under a POST is an error for the app.
 */
const edgeNoticesMs = 3000;

async function start() {
  const instance = await openInstance('api', readConfig('api', process.env), { version: versionOf(import.meta.url) });
  return instance.serve(async () => {
    const announce = (line: string) => process.stderr.write(`${line}\n`);
    const { api, welcome } = await openApi({ ...instance.deps('api'), web, docs, downloads, announce });
    const drain = (overMs: number) => Promise.all([api.drain(overMs), delay(Math.min(overMs, edgeNoticesMs))]);
    return { ...api, drain, lastAnswersMs, selfCheck: '/ws/attention', welcome };
  });
}

runService(start, { isForPeople });
