// The agents of the presets as a person has them: installed from npm, with a home and a project, and pointed at a simulated model.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { presetOf } from '../../dist/index.js';

const cache = process.env.RELAY_AGENTS_CACHE ?? join(homedir(), '.cache', 'relay-daemon-agents');

/** OpenCode and its offspring. */
function openCodeSettings(file, prefix, url) {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: `${url}/v1`, apiKey: 'none' },
    models: { 'mock-model': { reasoning: true }, 'other-model': { reasoning: true } },
  };
  const config = { provider: { mock: provider }, model: 'mock/mock-model', small_model: 'mock/mock-model' };
  put(file, { ...config, permission: { edit: 'ask', bash: { '*': 'ask', 'echo quiet': 'allow' } } });
  const off = ['MODELS_FETCH', 'AUTOUPDATE', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS'];
  return Object.fromEntries(off.map((name) => [`${prefix}_DISABLE_${name}`, '1']));
}

/** How each agent is pointed at the simulated model: files below its home, and variables. */
const settings = {
  opencode: (home, url) => openCodeSettings(join(home, '.config/opencode/opencode.json'), 'OPENCODE', url),
  claude_code: (_home, url, hasPlan) => ({
    ANTHROPIC_BASE_URL: url,
    ...(hasPlan ? { CLAUDE_CODE_OAUTH_TOKEN: 'none' } : { ANTHROPIC_API_KEY: 'none' }),
    // Claude Code refuses to run as root outside a container.
    IS_SANDBOX: '1',
    // Its list of tasks, at once and for a model that it does not know.
    ENABLE_TOOL_SEARCH: 'false',
    CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
  }),
  codex: (home, url) => {
    const lines = [
      'model = "mock-model"',
      'model_provider = "mock"',
      '[model_providers.mock]',
      'name = "mock"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      'env_key = "MOCK_KEY"',
    ];
    put(join(home, '.codex/config.toml'), `${lines.join('\n')}\n`);
    return { MOCK_KEY: 'none', INITIAL_AGENT_MODE: 'read-only' };
  },
  copilot: (_home, url) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_API_KEY: 'none',
    COPILOT_MODEL: 'mock-model',
    COPILOT_OFFLINE: 'true',
  }),
  qwen: (home, url) => {
    put(join(home, '.qwen/settings.json'), { security: { auth: { selectedType: 'openai' } } });
    return { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none', OPENAI_MODEL: 'mock-model' };
  },
  kimi: (home, url) => ({
    KIMI_MODEL_NAME: 'mock-model',
    KIMI_MODEL_API_KEY: 'none',
    KIMI_MODEL_BASE_URL: `${url}/v1`,
    KIMI_MODEL_PROVIDER_TYPE: 'openai',
    KIMI_CODE_HOME: join(home, '.kimi-code'),
  }),
  pi: (home, url) => {
    const provider = {
      baseUrl: `${url}/v1`,
      apiKey: 'none',
      api: 'openai-completions',
      models: [{ id: 'mock-model', reasoning: true }],
    };
    put(join(home, '.pi/agent/models.json'), { providers: { mock: provider } });
    put(join(home, '.pi/agent/settings.json'), {
      defaultProvider: 'mock',
      defaultModel: 'mock-model',
      quietStartup: true,
    });
    return { PI_OFFLINE: '1' };
  },
  nanocoder: (home, url) => ({
    NANOCODER_PROVIDERS: JSON.stringify([
      { name: 'mock', baseUrl: `${url}/v1`, apiKey: 'none', models: ['mock-model'] },
    ]),
  }),
  kilo: (home, url) => openCodeSettings(join(home, '.config/kilo/kilo.json'), 'KILO', url),
  gemini: (home, url) => {
    put(join(home, '.gemini/settings.json'), {
      security: { auth: { selectedType: 'gemini-api-key' } },
      context: { fileFiltering: { respectGitIgnore: false } },
    });
    return { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url, GEMINI_MODEL: 'mock-model' };
  },
};
function put(file, value) {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
}

/** Installs one package of npm into the cache, once; the path of a file in it. */
function install(folderName, wanted, file, drives = []) {
  const folder = join(cache, folderName);
  const path = join(folder, 'node_modules', file);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', wanted, ...drives];
  const { status } = spawnSync('npm', args, { stdio: 'inherit' });
  if (status !== 0 || !existsSync(path)) throw new Error(`${wanted} could not be installed`);
  return path;
}

/** The PATH for an agent that needs a newer Node.js than this one: with that in front of it. */
function pathFor({ node = '0' }) {
  const major = Number.parseInt(node, 10);
  if (Number.parseInt(process.versions.node, 10) >= major) return process.env.PATH;
  const binary = install(`node-${major}`, `node@${major}`, 'node/bin/node');
  return [dirname(binary), process.env.PATH].join(delimiter);
}

/** The program of a terminal in the version that the adapter drives, and the files that answer its questions before the first message. */
const inTerminal = {
  claude_code: {
    bin: () => dirname(install('claude-2.1.316', '@anthropic-ai/claude-code@2.1.316', '.bin/claude')),
    prepare(home, folders) {
      const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
      put(join(home, '.claude.json'), {
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: ['none'], rejected: [] },
        projects: Object.fromEntries(folders.map((folder) => [folder, trusted])),
      });
    },
  },
  codex: {
    bin: (program) => dirname(program),
    prepare(home, folders, isServed) {
      const lines = [
        ...(isServed ? [] : ['[features]', 'daemon_auto_start = false']),
        ...folders.flatMap((folder) => [`[projects.${JSON.stringify(folder)}]`, 'trust_level = "trusted"']),
      ];
      appendFileSync(join(home, '.codex/config.toml'), `${lines.join('\n')}\n`);
    },
  },
};

/**
 * The program that a person runs in a terminal, for the adapter `program` of this preset: `bin` is its folder, and `prepare` makes it trust folders.
 * Undefined for an agent without one. `isServed`: Codex starts its background server for terminals.
 */
export function terminalOf(name, program) {
  const found = inTerminal[name];
  return found && { bin: found.bin(program), prepare: found.prepare };
}

/**
 * Installs the pinned version of a preset into a cache outside the repository (RELAY_AGENTS_CACHE, default
 * ~/.cache/relay-daemon-agents), once, and makes a new home for it. The caller removes `home`. `hasPlan`: Claude Code has the token of a
 * subscription instead of a key.
 */
export function installedAgent(name, modelUrl, { hasPlan = false } = {}) {
  const preset = presetOf(name);
  const { package: packageName, version, drives } = preset.install;
  const file = join('.bin', preset.command);
  const program = install(`${name}-${version}`, `${packageName}@${version}`, file, drives ? [drives] : []);
  const home = realpathSync(mkdtempSync(join(tmpdir(), `relay-agents-${name}-`)));
  const project = join(home, 'project');
  mkdirSync(project);
  const env = {
    ...preset.env,
    PATH: drives ? [dirname(program), pathFor(preset)].join(delimiter) : pathFor(preset),
    HOME: home,
    XDG_CONFIG_HOME: '',
    XDG_DATA_HOME: '',
    XDG_STATE_HOME: '',
    ...settings[name](home, modelUrl, hasPlan),
  };
  for (const [key, value] of Object.entries(env)) if (value === '') delete env[key];
  return { preset, program, home, project, env };
}
