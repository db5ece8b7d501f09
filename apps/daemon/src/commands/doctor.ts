/** `relay-daemon doctor`: checks everything that an agent needs to answer, and gives advice for each problem. */
import { randomBytes } from 'node:crypto';
import { exitCodes } from '@relay/daemon-kit';
import { isStripped, strippedAdvice } from '@relay/protocol';
import { type Terminal, exchange, reasonOf } from '@relay/machine';
import { installCommand, testedVersion, versionOf } from '../agents/acp/presets.ts';
import { probeAgent } from '../agents/acp/probe.ts';
import { choiceOfConfig, launchOf, rulesOf } from '../agents/choice.ts';
import { projectFolder } from '../agents/project.ts';
import { type AgentChoice, type Config, readConfig } from '../config.ts';
import { readCredentials } from '../credentials.ts';
import { type Home, homeOf, registeredHomes } from '../home.ts';
import { runningOn } from '../lock.ts';
import { installedService } from '../service/service.ts';
import type { CommonOptions } from './place-options.ts';

interface Finding {
  /** `bad` keeps the daemon or its agent from working. */
  state: 'good' | 'odd' | 'bad';
  about: string;
  says: string;
  /** The advice. */
  remedy?: string;
}

const good = (about: string, says: string): Finding => ({ state: 'good', about, says });
const odd = (about: string, says: string, remedy: string): Finding => ({ state: 'odd', about, says, remedy });
const bad = (about: string, says: string, remedy?: string): Finding => ({
  state: 'bad',
  about,
  says,
  ...(remedy === undefined ? {} : { remedy }),
});

const healthTimeoutMs = 5000;
const clockToleranceMs = 60_000;
const lowestNode = '20.19.0';

export async function doctorCommand(options: CommonOptions, terminal: Terminal): Promise<number> {
  const choice = { home: options.home, env: terminal.env };
  const all = options.profile === undefined ? registeredHomes(choice) : [];
  const homes = all.length > 0 ? all : [homeOf({ ...choice, profile: options.profile })];
  const findings: Finding[] = [nodeFinding(process.versions.node, lowestNode, 'Node.js', 'this program')];
  for (const home of homes) {
    const prefix = home.profile === '' ? '' : `${home.profile}: `;
    for (const finding of await findingsOf(home, terminal.env)) {
      findings.push({ ...finding, about: `${prefix}${finding.about}` });
    }
  }
  findings.push(serviceFinding(terminal.env));
  if (options.json) terminal.out(`${JSON.stringify({ findings })}\n`);
  else for (const finding of findings) terminal.out(textOf(finding));
  return findings.some(({ state }) => state === 'bad') ? exitCodes.failed : exitCodes.ok;
}

const signs = { good: 'ok  ', odd: 'note', bad: 'BAD ' } as const;
const textOf = ({ state, about, says, remedy }: Finding) =>
  `${signs[state]} ${about}: ${says.replaceAll('\n', '\n       ')}\n${remedy === undefined ? '' : `     → ${remedy}\n`}`;

async function findingsOf(home: Home, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const findings: Finding[] = [];
  let config: Config | undefined;
  try {
    config = readConfig(home);
    if (config) readCredentials(home);
  } catch (error) {
    return [bad('Registration', reasonOf(error))];
  }
  if (!config) {
    const remedy = 'relay-daemon register --server <address> --agent <name>';
    return [bad('Registration', `this machine is not registered (no ${home.configFile})`, remedy)];
  }
  findings.push(good('Registration', `device ${config.device_id} at ${config.server}`));
  findings.push(...(await relayFindings(config.server)));
  const pid = await runningOn(home.stateDir);
  findings.push(
    pid === undefined
      ? odd('Process', 'not running', 'relay-daemon up')
      : good('Process', pid === 0 ? 'running' : `running, pid ${pid}`),
  );
  const rules = rulesOf(config, {}, home, env);
  const project = projectFolder('', rules);
  findings.push(
    'error' in project
      ? bad('Folder', project.error, 'Choose another one with --project.')
      : good('Folders', `may work in ${rules.allowed?.join(', ')}`),
  );
  findings.push(...(await agentFindings(choiceOfConfig(config), env)));
  return findings;
}

function serviceFinding(env: NodeJS.ProcessEnv): Finding {
  const { file, gone, other } = installedService(env) ?? {};
  const install = 'relay-daemon service install';
  if (file === undefined) return good('Service', `not installed; "${install}" starts the daemon with your session`);
  if (gone !== undefined) return bad('Service', `${file} starts ${gone}, which is gone`, install);
  if (other !== undefined) return odd('Service', `${file} starts ${other}, and not this program`, install);
  return good('Service', `installed, ${file}`);
}

async function relayFindings(server: string): Promise<Finding[]> {
  try {
    const { status, headers, body } = await exchange(`${server}/health`, { timeoutMs: healthTimeoutMs });
    const found = versionIn(body.toString('utf8'));
    if (found === undefined)
      return [bad('Relay', `${server} does not answer like a relay (${status})`, 'Is --server right?')];
    const version = found === '' ? '' : `, version ${found.slice(0, 40)}`;
    const findings = [good('Relay', `${server} answers${version}`), await socketFinding(server)];
    const aheadMs = Date.now() - Date.parse(headers.get('date') ?? '');
    if (Math.abs(aheadMs) > clockToleranceMs) {
      const minutes = Math.round(Math.abs(aheadMs) / 60_000);
      const says = `this machine is ${minutes} min ${aheadMs > 0 ? 'ahead of' : 'behind'} the relay`;
      findings.push(odd('Clock', says, 'Set the clock, for example with NTP.'));
    }
    return findings;
  } catch (error) {
    const remedy = 'Is it running, and is this machine online?';
    return [bad('Relay', `${server} cannot be reached (${reasonOf(error)})`, remedy)];
  }
}

/** The relay refuses an upgrade without a credential with 401, which proves that the request reached it. */
async function socketFinding(server: string): Promise<Finding> {
  const key = randomBytes(16).toString('base64');
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': key,
  };
  const options = { headers, timeoutMs: healthTimeoutMs };
  const { status } = await exchange(`${server}/ws/daemon`, options).catch(() => ({ status: 0 }));
  if (status === 0) return bad('WebSocket', `the upgrade request got no answer; ${strippedAdvice}`);
  if (status === 426 || isStripped(status))
    return bad('WebSocket', `the upgrade request was answered with ${status}; ${strippedAdvice}`);
  return good('WebSocket', 'upgrade requests reach the relay');
}

/** Empty if the answer names no version; undefined if it did not come from a relay. */
function versionIn(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { status?: unknown; version?: unknown } | null;
    if (typeof body?.status !== 'string') return undefined;
    return typeof body.version === 'string' ? body.version : '';
  } catch {
    return undefined;
  }
}

async function agentFindings(choice: AgentChoice, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  if (choice.kind === 'scripted') return [odd('Agent', 'the built-in demonstration', 'relay-daemon agents')];
  const launch = launchOf(choice);
  const { preset, found } = launch;
  const name = preset?.title ?? choice.program ?? choice.preset ?? '';
  if (found === undefined) {
    const says = `${name} is not in the PATH (${choice.program ?? preset?.command ?? ''})`;
    return [bad('Agent', says, preset && installCommand(preset))];
  }
  const findings: Finding[] = [];
  if (preset) {
    const version = versionOf(preset, found);
    findings.push(
      version === testedVersion(preset)
        ? good('Agent', [name, version].filter(Boolean).join(' ') + `, ${found}`)
        : odd(
            'Agent',
            `${name} ${version ?? 'of unknown version'}, ${found}; tested with ${testedVersion(preset)}`,
            `If it does not work: ${installCommand(preset)}`,
          ),
    );
    if (preset.node !== undefined) {
      findings.push(nodeFinding(process.versions.node, preset.node, 'Node.js of the agent', name));
    }
    if (preset.name === 'claude_code' && process.getuid?.() === 0 && env.IS_SANDBOX !== '1') {
      const remedy = 'Run the daemon as an ordinary user, or set IS_SANDBOX=1 if this is a container.';
      findings.push(odd('User', 'Claude Code refuses to open sessions for root', remedy));
    }
  } else findings.push(good('Agent', found));
  if (choice.kind !== 'acp') return findings;
  const { abilities, problem } = await probeAgent(launch);
  if (abilities) {
    const can = (['resume', 'load', 'list', 'images'] as const).filter((what) => abilities[what]);
    const who = [abilities.name, abilities.version].filter((text) => text !== '').join(' ');
    findings.push(good('ACP', `${who || 'the agent'} answers; can ${can.join(', ') || 'only start'}`));
  }
  findings.push(problem === undefined ? good('Session', 'the agent opens one') : bad('Session', problem));
  return findings;
}

function nodeFinding(version: string, lowest: string, about: string, who: string): Finding {
  const numbers = (text: string) => text.split('.').map((part) => Number.parseInt(part, 10));
  const [have, need] = [numbers(version), numbers(lowest)];
  const difference = [0, 1, 2].map((at) => (have[at] ?? 0) - (need[at] ?? 0)).find((step) => step !== 0) ?? 0;
  return difference >= 0
    ? good(about, version)
    : odd(about, `${version}, but ${who} needs ${lowest}`, `Install Node.js ${lowest} or newer.`);
}
