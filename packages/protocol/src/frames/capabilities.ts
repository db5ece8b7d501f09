/** Names of the abilities that daemons and the relay declare. */

/** The capabilities in `X-Daemon-Capabilities` that the relay acts on. */
export const capabilities = {
  /** Takes `images` on `task_start` and `task_resume`. */
  images: 'images',
  /** Answers `usage_request`. */
  usage: 'usage',
  /** Fallback for daemons released before `usage`: answers a `context_request` without `include` as `usage_request`. */
  context: 'context',
  /**
   * Treats the pong to a WebSocket ping as a receipt: the relay handled every frame sent before the ping, for instance
   * saved a task's completion. Undeclared, a pong only shows that the relay is alive, and the relay sends it
   * immediately.
   */
  receipts: 'receipts',
  /** Reads why an upgrade was refused: 426 with a `version_status` body instead of a socket that closes 4426, and 429. */
  refusals: 'refusals',
  /** Sends `TRANSCRIPT`, answers `parts` and `changed`, and keeps the uuids that the relay chose. Only to a relay that declares it. */
  transcript: 'transcript',
  /** Names its questions and takes answers by that name. Only to a relay that declares it. */
  prompts: 'prompts',
  /** Answers `settings_request`. */
  settings: 'settings',
  /** Keeps choices and defaults, answers `agent_settings_request`, and takes `settings` with a task. */
  controls: 'controls',
  /** Keeps images and whole outputs, and answers `content_request`. */
  content: 'content',
  /** Answers `get_folders`; with `changes` also `get_files` and `get_file`. */
  browse: 'browse',
  /** Answers `search_request`. */
  search: 'search',
  /** Reports which programs have a session open, and answers `desk_request`. Only to a relay that declares it. */
  desk: 'desk',
  /** Answers `get_changes` and `get_diff`. */
  changes: 'changes',
  /** Takes `task_steer`: a message into a running turn. Only from a relay that declares it. */
  steer: 'steer',
  /** Keeps figures of use by day, and answers `spending_request`. */
  spending: 'spending',
  /** Receives files in pieces, and takes `files` with a task. */
  files: 'files',
} as const;
export type Capability = keyof typeof capabilities;

/** The header of the 101 that declares the relay's capabilities; absent: the relay declares zero capabilities. */
export const relayCapabilitiesHeader = 'X-Relay-Capabilities';
export const relayCapabilities = {
  transcript: 'transcript',
  prompts: 'prompts',
  settings: 'settings',
  desk: 'desk',
  steer: 'steer',
  controls: 'controls',
  /** Takes ERROR with `USAGE_LIMIT` and `limit`. */
  limits: 'limits',
  /** Sends files and `files`. */
  files: 'files',
} as const;
export const relayCapabilityNames: string[] = Object.values(relayCapabilities);
/** The capabilities in GET /health, for clients of REST. */
export const healthCapabilities: string[] = [...relayCapabilityNames, 'spending', 'later', 'schedules'];
