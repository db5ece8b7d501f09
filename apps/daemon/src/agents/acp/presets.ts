/**
 * The agents that this daemon knows by name: their command, the tested version, and the quirks of each. Data
 * only; the adapter checks a quirk by its name and knows no agent.
 */
import { packageVersion } from '../programs.ts';

export interface Quirks {
  /** `session/load` is destructive or unreliable: a session is only continued while its process lives. */
  neverReload?: true;
  /** `session/resume` is advertised but answers "method not found"; `session/load` works. */
  resumeIsLoad?: true;
  /** A turn that completes without text and without a tool is an unreported error of the model. */
  silentFailure?: true;
  /** An answer that begins like this is an error of the model. */
  errorText?: RegExp;
  /** Matches the ids of its modes that never ask. */
  doesNotAsk?: RegExp;
  /** How its usage limits look; absent: they are ordinary errors. */
  limit?: 'claude' | 'codex';
  /** Categories of settings whose change during a turn takes effect at once, or from the next message. */
  applies?: Readonly<Partial<Record<'now' | 'next', readonly string[]>>>;
  /** It runs every tool without asking, in all of its modes. */
  neverAsks?: true;
}

export interface Preset {
  /** The name on the command line, and the agent type of the registration. */
  name: string;
  title: string;
  /** 1: every feature was run. 2: run, with gaps. 3: start, cancel and permissions only, or not run yet. */
  tier: 1 | 2 | 3;
  /** The command that installs it: from npm in the tested version, beside the program that it drives, or as its maker describes. */
  install: string | { package: string; version: string; drives?: string };
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Advice for a person who is not logged in at the agent. */
  login: string;
  /** Methods of `authenticate` that use a login or a key of this machine. */
  logins?: readonly string[];
  /** The lowest Node.js version it runs on, where it needs one. */
  node?: string;
  /** The reader of the agent's own files; without one the agent is asked for its list (`session/list`). */
  history?: 'claude' | 'codex' | 'qwen' | 'gemini';
  /**
   * For agents without a reader: files that change with their sessions, below `{home}` or `{data}` (XDG); `/*` means the
   * entries of a folder. The daemon asks for the list only then.
   */
  marks?: readonly string[];
  /** The reader of its records of the program that has a session open. */
  holder?: 'claude' | 'codex' | 'qwen' | 'copilot';
  /** The names of its program in a terminal. */
  programs?: readonly string[];
  /**
   * The arguments that continue a session in a terminal, with `{id}`. Only arguments tried with the tested version are
   * listed.
   */
  resume?: readonly string[];
  quirks?: Quirks;
}

export const presets: readonly Preset[] = [
  {
    name: 'claude_code',
    title: 'Claude Code',
    tier: 1,
    install: { package: '@agentclientprotocol/claude-agent-acp', version: '0.100.0' },
    command: 'claude-agent-acp',
    args: [],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    login: 'Run "claude" once in a terminal and log in, or set ANTHROPIC_API_KEY.',
    node: '20.0.0',
    history: 'claude',
    quirks: {
      doesNotAsk: /^bypassPermissions$/,
      applies: { now: ['mode', 'model'], next: ['thought_level'] },
      limit: 'claude',
    },
    holder: 'claude',
    programs: ['claude'],
    resume: ['claude', '--resume', '{id}'],
  },
  {
    name: 'codex',
    title: 'Codex',
    tier: 1,
    install: { package: '@agentclientprotocol/codex-acp', version: '2.6.0' },
    command: 'codex-acp',
    args: [],
    env: { NO_BROWSER: '1' },
    login: 'Run "codex login" in a terminal, or set OPENAI_API_KEY.',
    node: '20.0.0',
    history: 'codex',
    quirks: {
      doesNotAsk: /^agent-full-access$/,
      applies: { next: ['mode', 'model', 'thought_level', 'collaboration_mode'] },
      limit: 'codex',
    },
    holder: 'codex',
    programs: ['codex'],
    resume: ['codex', 'resume', '{id}'],
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    tier: 1,
    install: { package: 'opencode-ai', version: '1.18.33' },
    command: 'opencode',
    args: ['acp'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
    login: 'Run "opencode auth login" in a terminal.',
    marks: ['{data}/opencode/opencode.db', '{data}/opencode/opencode.db-wal'],
    quirks: { applies: { next: ['mode', 'model', 'thought_level'] } },
  },
  {
    name: 'qwen',
    title: 'Qwen Code',
    tier: 2,
    install: { package: '@qwen-code/qwen-code', version: '0.24.4' },
    command: 'qwen',
    args: ['--acp'],
    login: 'Run "qwen" once in a terminal and log in, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL.',
    node: '22.0.0',
    history: 'qwen',
    quirks: { doesNotAsk: /^yolo$/ },
    holder: 'qwen',
    programs: ['qwen'],
  },
  {
    name: 'kimi',
    title: 'Kimi Code',
    tier: 2,
    install: { package: '@moonshot-ai/kimi-code', version: '2.1.0' },
    command: 'kimi',
    args: ['acp'],
    login: 'Run "kimi" once in a terminal and log in.',
    marks: ['{home}/.kimi-code/session_index.jsonl'],
    node: '22.19.0',
    quirks: { silentFailure: true, doesNotAsk: /^yolo$/ },
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot CLI',
    tier: 2,
    install: { package: '@github/copilot', version: '1.0.102' },
    command: 'copilot',
    args: ['--acp', '--no-auto-update'],
    login: 'Run "copilot" once in a terminal and use /login.',
    marks: ['{home}/.copilot/session-state'],
    quirks: { errorText: /^Error: /, doesNotAsk: /#autopilot$/ },
    holder: 'copilot',
    programs: ['copilot'],
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    tier: 3,
    install: { package: '@google/gemini-cli', version: '0.61.0' },
    command: 'gemini',
    args: ['--acp'],
    login: 'Run "gemini" once in a terminal and log in, or set GEMINI_API_KEY.',
    node: '20.0.0',
    history: 'gemini',
    quirks: { neverReload: true, doesNotAsk: /^yolo$/ },
  },
  {
    name: 'kilo',
    title: 'Kilo',
    tier: 2,
    install: { package: '@kilocode/cli', version: '7.7.7' },
    command: 'kilo',
    args: ['acp'],
    login: 'Run "kilo auth login" in a terminal.',
    marks: ['{data}/kilo/kilo.db', '{data}/kilo/kilo.db-wal'],
  },
  {
    name: 'nanocoder',
    title: 'Nanocoder',
    tier: 2,
    install: { package: '@nanocollective/nanocoder', version: '1.30.0' },
    command: 'nanocoder',
    args: ['--acp'],
    login: 'Run "nanocoder" once in a terminal and choose a provider.',
    marks: ['{data}/nanocoder/sessions', '{data}/nanocoder/sessions/sessions.json'],
    node: '22.0.0',
  },
  {
    name: 'pi',
    title: 'pi',
    tier: 2,
    install: { package: 'pi-acp', version: '0.0.34', drives: '@earendil-works/pi-coding-agent@1.6.0' },
    command: 'pi-acp',
    args: [],
    login: 'Run "pi" once in a terminal and use /login.',
    marks: ['{home}/.pi/agent/sessions/*', '{home}/.pi/pi-acp/session-map.json'],
    node: '22.19.0',
    quirks: { neverAsks: true },
  },
  {
    name: 'cursor',
    title: 'Cursor',
    tier: 3,
    install: 'curl -fsS https://cursor.com/install | bash',
    command: 'cursor-agent',
    args: ['acp'],
    env: { NO_OPEN_BROWSER: '1' },
    login: 'Run "cursor-agent login" in a terminal, or set CURSOR_API_KEY.',
    logins: ['cursor_login'],
  },
  {
    name: 'grok',
    title: 'Grok Build',
    tier: 3,
    install: 'curl -fsSL https://x.ai/cli/install.sh | bash',
    command: 'grok',
    args: ['agent', 'stdio'],
    login: 'Run "grok login" in a terminal, or set XAI_API_KEY.',
    logins: ['cached_token', 'xai.api_key'],
  },
];

/** The preset of this name; "claude" and "claude-code" are the same agent as "claude_code". */
export function presetOf(name: string): Preset | undefined {
  const wanted = name.replaceAll('-', '_');
  return presets.find((preset) => preset.name === wanted || preset.name === `${wanted}_code`);
}

export const installCommand = ({ install }: Preset) =>
  typeof install === 'string'
    ? install
    : ['npm install --global', `${install.package}@${install.version}`, install.drives ?? ''].join(' ').trimEnd();

/** The version that was tested; undefined for an agent that was not installed from npm. */
export const testedVersion = ({ install }: Preset) => (typeof install === 'string' ? undefined : install.version);

/** The version that is installed at this path; undefined if npm did not install it. */
export const versionOf = ({ install }: Preset, path: string) =>
  typeof install === 'string' ? undefined : packageVersion(path, install.package);
