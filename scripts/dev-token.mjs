// Prints an access token of the development issuer, for tests without a browser. Only the token goes to stdout, so that
// TOKEN=$(npm run --silent dev:token) works.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `Usage: npm run --silent dev:token -- [options]

Prints an access token that the relay on this machine accepts if it was started with AUTH_DEV_ISSUER=on.

  --user <name>      whose token it is (default: dev)
  --scopes <list>    comma list of sessions:read, sessions:write, devices:read, devices:write (default: these), agents:drive, agents:answer
  --hours <number>   how long it is valid, more than 0 and at most 8760 (default: 12)
  --data-dir <path>  data folder of the relay (default: $DATA_DIR, else ./data)
  --create           make the key if there is none yet, instead of asking to start the relay first
  --json             print {"token", "user", "scopes", "audience", "expiresAt"} instead of the bare token
  --help             print this
`;

function fail(message) {
  process.stderr.write(`dev:token: ${message}\n`);
  process.exit(1);
}

function options() {
  try {
    return parseArgs({
      options: {
        user: { type: 'string', default: 'dev' },
        scopes: { type: 'string' },
        hours: { type: 'string', default: '12' },
        'data-dir': { type: 'string', default: process.env.DATA_DIR || './data' },
        create: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return fail(`${error.message}\n\n${HELP}`);
  }
}

const { user, scopes: scopeList, hours, 'data-dir': dataDir, create, json, help } = options();
if (help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const auth = await import('@relay/auth').catch((error) => fail(`run \`npm run build\` first (${error.code})`));
const { knownScopes, ordinaryScopes, devIssuerFile, openDevIssuer } = auth;

const seconds = Math.round(Number(hours) * 3600);
if (!(seconds >= 1 && seconds <= 8760 * 3600)) fail(`--hours is "${hours}"; it must be a number from 0.001 to 8760`);
if (!/^[^\p{Cc}]{1,255}$/u.test(user)) fail('--user must be 1 to 255 characters');
const scopes = scopeList === undefined ? [...ordinaryScopes] : scopeList.split(',').map((scope) => scope.trim());
const unknown = scopes.find((scope) => !knownScopes.includes(scope));
if (unknown !== undefined) fail(`--scopes has "${unknown}"; known are ${knownScopes.join(', ')}`);

const file = devIssuerFile(resolve(dataDir));
if (!create && !existsSync(file)) {
  fail(
    `there is no ${file}. Start the relay with AUTH_DEV_ISSUER=on first: it makes the key (or pass --data-dir, or --create).`,
  );
}

try {
  const issuer = openDevIssuer(resolve(dataDir));
  const token = issuer.sign({ sub: user, scopes, expiresInSeconds: seconds });
  const expiresAt = new Date(Date.now() + seconds * 1000).toISOString();
  const { audience } = issuer.config;
  process.stdout.write(`${json ? JSON.stringify({ token, user, scopes, audience, expiresAt }) : token}\n`);
} catch (error) {
  fail(error.message);
}
