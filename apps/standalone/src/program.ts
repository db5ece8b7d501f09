/** The program of the whole relay in one process: embedded database, in-memory backplane, both doors behind one port. */
import { fileURLToPath } from 'node:url';
import { openApi, peopleOf } from '@relay/api';
import { readConfig } from '@relay/config';
import { createGateway } from '@relay/gateway';
import { runService } from '@relay/service';
import { type InstanceDeps, isForPeople as isOfInstance, openInstance, versionOf } from '@relay/service/instance';
import type { Logger } from '@relay/telemetry';
import { type AdminDeps, type AdminRequest, Refused, runCommand } from './admin-commands.ts';
import { addressCode } from './address-code.ts';
import { type AdminReply, listenForAdmin } from './admin-socket.ts';
import { readArguments, usage } from './arguments.ts';
import { bothDoors } from './doors.ts';
import { keptAuthority } from './lan/authority.ts';
import { handedOver, lanPlace, lanWelcome, openLan } from './lan/open.ts';
import { withSecret } from './secret.ts';

const web = { directory: fileURLToPath(new URL('../../web/dist', import.meta.url)) };
const docs = { directory: fileURLToPath(new URL('../../docs/dist', import.meta.url)) };
const downloads = { daemon: fileURLToPath(new URL('../../daemon/dist/relay-daemon.tgz', import.meta.url)) };
const devIssuerOn = 'AUTH_DEV_ISSUER is on: "npm run dev:token" prints an access token for this machine.';
/** A person waits for the process to exit; clients repeat requests that take longer. */
const lastAnswersMs = 1000;

const version = versionOf(import.meta.url);
const isForPeople = (error: unknown): boolean => error instanceof Refused || isOfInstance(error);

async function start() {
  const options = readArguments(process.argv.slice(2));
  if (options.only !== undefined) {
    process.stdout.write(options.only === 'help' ? usage : `${version}\n`);
    process.exit();
  }
  const place = options.lan && (await lanPlace(options.lan));
  if (place && process.env.PUBLIC_URL !== undefined)
    throw new Refused(`PUBLIC_URL is set, and --lan makes it ${place.url}. Remove one of them.`);
  const config = withSecret(readConfig('standalone', place ? { ...process.env, PUBLIC_URL: place.url } : process.env));
  const authority = place && (await keptAuthority(config.dataDir));
  const instance = await openInstance('standalone', config, { version });
  return instance.serve(async () => {
    const deps = instance.deps('api');
    const announce = (line: string) => process.stderr.write(`${line}\n`);
    const { api, welcome } = await openApi({
      ...deps,
      web: { ...web, authority: place && authority && handedOver(place, authority) },
      docs,
      downloads,
      announce,
    });
    const gateway = createGateway(instance.deps('gateway'));
    const doors = bothDoors(api, gateway);
    const lan = place && authority && (await openLan(doors, place, { ...config, authority, logger: deps.logger }));
    const more = [
      ...welcome,
      ...(config.authDevIssuer ? [devIssuerOn] : []),
      ...(place && authority ? lanWelcome(place, authority) : []),
      ...addressCode(place?.trustUrl ?? config.publicUrl, process.stderr.isTTY),
    ];
    const stopAdmin = config.databaseUrl === undefined ? await admin(deps) : undefined;
    const close = async () => {
      stopAdmin?.();
      await lan?.close(lastAnswersMs);
      await doors.close();
    };
    return { ...doors, close, lastAnswersMs, welcome: more };
  });
}

/**
 * Handles commands of relay-admin. Resolves with the function that stops it; undefined, after a warning, if the socket
 * cannot be created.
 */
async function admin(deps: InstanceDeps): Promise<(() => void) | undefined> {
  const { config, logger } = deps;
  const stop = await listenForAdmin(config.dataDir, (request) =>
    adminReply({ ...deps, people: peopleOf(deps) }, request as AdminRequest, logger),
  );
  if (!stop)
    logger.warn(`relay-admin works only while the relay is stopped: the path of ${config.dataDir} is too long`);
  return stop;
}

/** The outcome of a command, which relay-admin prints. Never rejects. */
async function adminReply(deps: AdminDeps, request: AdminRequest, logger: Logger): Promise<AdminReply> {
  try {
    return await runCommand(deps, request);
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message, code: 2 };
    if (isForPeople(error)) return { refused: (error as Error).message, code: 1 };
    logger.error({ err: error }, 'a command of relay-admin failed');
    return { refused: 'Something went wrong on the relay. See its log.', code: 1 };
  }
}

/** Runs the relay until it is stopped. */
export function serve(): void {
  runService(start, { isForPeople });
}
