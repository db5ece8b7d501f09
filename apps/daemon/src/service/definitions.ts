/**
 * The daemon as a service of the user, as text: a systemd user unit, a launchd agent, a task of the Windows Task Scheduler. Pure. A
 * service gets neither the PATH nor the variables of a shell, so the definition contains everything that is needed.
 */
export interface ServicePlan {
  /** Absolute: node, and the script of this program. */
  node: string;
  script: string;
  /** After the script: `up` and its options. */
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Windows: the user whose log-on starts it and who runs it; empty if unknown. */
  user?: string;
  /** The log file under launchd and Windows. */
  logFile: string;
}

export const serviceName = 'relay-daemon';
export const launchdLabel = 'dev.agent-session-relay.relay-daemon';

/** Exit code 78: the relay refused the daemon permanently; a restart would not help. */
export function systemdUnit({ node, script, args, env }: ServicePlan): string {
  const command = [node, script, ...args].map((word) => systemdWord(word)).join(' ');
  const variables = Object.entries(env).map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`, false)}`);
  return [
    '[Unit]',
    'Description=Relay daemon: the agents of this machine for your apps',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${command}`,
    ...variables,
    'EnvironmentFile=-%E/relay-daemon/env',
    'Restart=always',
    'RestartSec=5',
    'RestartPreventExitStatus=78',
    'KillMode=mixed',
    'TimeoutStopSec=20',
    'UMask=0077',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

/** systemd.service(5), "Command lines": % and, in commands, $ are special; quotes and backslashes are escaped. */
function systemdWord(word: string, isCommand = true): string {
  const escaped = word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('\n', '\\n');
  return `"${isCommand ? escaped.replaceAll('$', '$$$$') : escaped}"`;
}

/** Node and the script that a unit or a property list of ours starts; undefined for any other text. */
export function programIn(definition: string): [node: string, script: string] | undefined {
  const word = String.raw`"((?:[^"\\]|\\.)*)"`;
  const unit = new RegExp(`^ExecStart=${word} ${word}`, 'm').exec(definition);
  const list = /<array>\s*<string>([^<]*)<\/string>\s*<string>([^<]*)<\/string>/.exec(definition);
  const read = unit
    ? (text: string) => text.replaceAll(/([\\%$])(.)/g, '$2')
    : (text: string) => text.replaceAll(/&\w+;/g, (name) => signs[name] ?? name);
  const [, node, script] = unit ?? list ?? [];
  return node === undefined || script === undefined ? undefined : [read(node), read(script)];
}

/** launchd restarts after every exit but 0: `--supervised` turns the exit of a refused daemon into 0. */
export function launchdPlist({ node, script, args, env, logFile }: ServicePlan): string {
  const text = (value: string) => `<string>${xml(value)}</string>`;
  const words = [node, script, ...args, '--supervised'].map((word) => `    ${text(word)}`);
  const variables = Object.entries(env).map(([name, value]) => `    <key>${xml(name)}</key>${text(value)}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key>${text(launchdLabel)}`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...words,
    '  </array>',
    '  <key>EnvironmentVariables</key>',
    '  <dict>',
    ...variables,
    '  </dict>',
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>10</integer>',
    '  <key>Umask</key><integer>63</integer>',
    `  <key>StandardOutPath</key>${text(logFile)}`,
    `  <key>StandardErrorPath</key>${text(logFile)}`,
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}

/** Runs at log-on of this user; started again one minute after a failure. */
export function windowsTask({ node, script, args, env, logFile, user = '' }: ServicePlan): string {
  const set = Object.entries(env).map(([name, value]) => `set "${name}=${value}"&&`);
  const words = [node, script, ...args, '--supervised'].map((word) => `"${word}"`).join(' ');
  // Only an administrator can register a task for every user's log-on.
  const who = user === '' ? '' : `<UserId>${xml(user)}</UserId>`;
  const line = `/d /s /c "${[...set, words].join(' ')} >>"${logFile}" 2>&1"`;
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    `  <Triggers><LogonTrigger><Enabled>true</Enabled>${who}</LogonTrigger></Triggers>`,
    '  <Principals>',
    `    <Principal id="Author">${who}<LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel></Principal>`,
    '  </Principals>',
    '  <Settings>',
    '    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    '    <RestartOnFailure><Interval>PT1M</Interval><Count>255</Count></RestartOnFailure>',
    '  </Settings>',
    '  <Actions Context="Author">',
    `    <Exec><Command>cmd.exe</Command><Arguments>${xml(line)}</Arguments></Exec>`,
    '  </Actions>',
    '</Task>',
    '',
  ].join('\n');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const signs = Object.fromEntries(Object.entries(entities).map(([sign, name]) => [name, sign]));
const xml = (text: string) => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
