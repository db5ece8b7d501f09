/** The environment of an agent's processes: that of the daemon, without its secrets and without the markers of another agent's session. */

/** Credentials of this product, which would give an agent the authority of its person. */
const secret = /^RELAY_(\w+_)?(KEY|TOKEN)$/i;

/**
 * Agents set these for their children. If the daemon runs in an agent's terminal, a new agent would take itself for a
 * child of that session: Claude Code refuses to start, Codex believes that it has no network. Settings of agents have
 * other names and stay.
 */
const sessionMarkers = new Set(
  `
    CLAUDECODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_EXECPATH CLAUDE_CODE_REMOTE
    CLAUDE_CODE_REMOTE_SESSION_ID CLAUDE_CODE_SESSION_ACCESS_TOKEN CLAUDE_CODE_SESSION_ID CLAUDE_CODE_SSE_PORT
    CLAUDE_AGENT_SDK_VERSION CLAUDE_ENV_FILE CLAUDE_PROJECT_DIR CLAUDE_SESSION_ID
    CODEX_CI CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID CODEX_INTERNAL_ORIGINATOR_OVERRIDE
    COPILOT_AGENT_SESSION_ID COPILOT_CLI
    CURSOR_AGENT CURSOR_TRACE_ID GEMINI_CLI QWEN_CODE GROK_AGENT
    KILO KILO_PID KILO_RUN_ID KILO_PROCESS_ROLE
    OPENCODE OPENCODE_PID OPENCODE_RUN_ID OPENCODE_PROCESS_ROLE AI_AGENT AMP_CURRENT_THREAD_ID AUGMENT_AGENT
    CLINE_ACTIVE GOOSE_TERMINAL PI_CODING_AGENT
  `.match(/\w+/g),
);

/** `own` comes from preset and person. It can contain markers; secrets are dropped from it. */
export function agentEnvironment(
  own: Readonly<Record<string, string>> = {},
  inherited: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(([name]) => !sessionMarkers.has(name.toUpperCase()));
  return Object.fromEntries([...kept, ...Object.entries(own)].filter(([name]) => !secret.test(name)));
}
