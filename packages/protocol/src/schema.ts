/**
 * The building blocks of every schema: texts, ids, times, and their bounds (rules, 1.10).
 * Knows nothing about frames or routes. Objects stay open: unknown fields pass in both directions (rule of growth).
 */
import {
  Type,
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from '@sinclair/typebox';

export { Type };
export type { Static, TObject, TSchema };

/** Sizes in characters (text) or bytes (bodies, frames). See rules, 1.10, 6.8 and 9.3. */
export const limits = {
  requestBodyBytes: 1024 * 1024,
  /** Requests with images: the images in base64, and the largest message in its longest spelling. */
  imageRequestBytes: 16 * 1024 * 1024,
  images: 8,
  /** One image, decoded. */
  imageBytes: 5 * 1024 * 1024,
  /** All images of a message, decoded: in base64, and with the message, they fit into one frame for a daemon. */
  imagesBytes: 10 * 1024 * 1024,
  /** All images that wait for one device, as data URLs. */
  waitingImageBytes: 64 * 1024 * 1024,
  messageBytes: 256 * 1024,
  /** Any text of a frame without a tighter limit. Apps get `messageBytes` of it, marked as cut. */
  textCharacters: 1024 * 1024,
  /** A name, an action, a version: a text of one line. */
  lineCharacters: 1024,
  /** A path or address. Longer than any system opens, and never cut: half a path is another one. */
  pathCharacters: 4096,
  /** A time, in any spelling. */
  timeCharacters: 64,
  /** An access token, in one frame of an app. */
  tokenCharacters: 32 * 1024,
  /** One image as a data URL: its bytes in base64, with their prefix. */
  imageCharacters: 7 * 1024 * 1024,
  /** Any list without a tighter limit. */
  listItems: 10_000,
  /** A list of an export, which is streamed. */
  exportItems: 10_000_000,
  /** Entries of one report; the newest activity comes first. */
  reportEntries: 10_000,
  /** Ids in one `status`. Never cut: a task missing there counts as lost. */
  runningTasks: 100_000,
  promptOptions: 100,
  promptOptionCharacters: 4096,
  connections: 50,
  devices: 1000,
  watchedSessions: 1000,
  idCharacters: 512,
  /** `<device_id>:<agent_type>:` of at most 512 characters and one more, then a native id of at most 512. */
  sessionIdCharacters: 1025,
  idempotencyKeyCharacters: 200,
  titleCharacters: 80,
  nameCharacters: 200,
  hostnameCharacters: 255,
  daemonFrameBytes: 16 * 1024 * 1024,
  attentionFrameBytes: 64 * 1024,
  /** A prompt with the maximum number of images. */
  acpFrameBytes: 17 * 1024 * 1024,
  lastMessageBytes: 2048,
  historyPage: 200,
  historyPageDefault: 50,
  sessionsPage: 200,
  /** Folders of one device in one answer. */
  recentFolders: 20,
  /** Folders of one folder, and the characters of one name. */
  folders: 500,
  folderCharacters: 255,
  /** All that a daemon answers about one folder. */
  folderBytes: 256 * 1024,
  /** Sessions that one request archives or deletes. */
  bulkSessions: 100,
  sessionsDefault: 100,
  slashCommands: 500,
  /** Projects with commands of their own, per device. */
  slashCommandSets: 200,
  contextBytes: 64 * 1024,
  capabilities: 32,
  /** Agents of one device. */
  agents: 16,
  conflictMachines: 4,
  queueTtlSeconds: 86_400,
  /** Messages whose time has not come: of a session, of a person; how far ahead the time can be. */
  laterOfSession: 20,
  laterOfPerson: 200,
  laterFromMs: 30_000,
  laterUntilMs: 90 * 86_400_000,
  /** A message that continues after a usage limit: its earliest time after the reset, the span after that, and the pause between sessions of one agent on one device. */
  continueFromMs: 30_000,
  continueWithinMs: 90_000,
  continueApartMs: 20_000,
  /** Schedules and their runs: of a person, of a person in a day, in one answer. */
  schedules: 50,
  runsOfDay: 200,
  runsListed: 100,
  /** Two times of a schedule are at least so long apart; a run waits at most so long for its device. */
  scheduleApartMs: 15 * 60_000,
  scheduleWaitSeconds: 86_400,
  cronCharacters: 256,
  zoneCharacters: 64,
  /** A device's credential expires after this time without a connection (rules, 7.7). */
  deviceTokenIdleSeconds: 90 * 86_400,
} as const;

/** The form of an agent type (rules, 7.8). Neither it nor a device id ever contains a colon. */
export const agentTypePattern = '^[a-z0-9][a-z0-9_-]{0,63}$';

/**
 * The treatment of a value of a field daemon that exceeds its bound, so that one value does not cost a frame (`fit.ts`):
 * a list keeps its first or last items, a text that must not be cut counts as not given. Other texts are cut; a text with a
 * pattern or a least length is refused.
 */
export const overlong: unique symbol = Symbol('overlong');

/**
 * An optional field that was added to a frame later: daemons in the field can use the name for something else. An
 * invalid value counts as absent, so that the rest of the frame survives.
 */
export const later: unique symbol = Symbol('later');

type TextOptions = { minLength?: number; maxLength?: number; pattern?: string; [overlong]?: 'unknown' };
/** Never without a bound: `limits.textCharacters` unless there is a closer one. */
export const text = (description: string, options: TextOptions = {}) =>
  Type.String({ description, maxLength: limits.textCharacters, ...options });
/** A text of one line. */
export const line = (description: string) => text(description, { maxLength: limits.lineCharacters });
/** A text that must not be cut, because half of it would have another meaning: an overlong text counts as absent. */
export const opaque = (description: string, maxLength: number = limits.idCharacters) =>
  text(description, { maxLength, [overlong]: 'unknown' });
export const id = (description: string) => Type.String({ description, minLength: 1, maxLength: limits.idCharacters });
export const sessionId = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: limits.sessionIdCharacters });
export const time = (description: string) => Type.String({ description, format: 'date-time' });
export const count = (description: string) => Type.Integer({ description, minimum: 0, maximum: 2_147_483_647 });
export const flag = (description: string) => Type.Boolean({ description });
export const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], description });
/** The value or null. One type array instead of a union: a union costs ajv an error object for every null it meets. */
export const nullable = <T extends TSchema & { type: string }>(schema: T): TUnsafe<Static<T> | null> =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] });
export const maybe = <T extends TSchema>(schema: T) => Type.Optional(schema);
/** An optional field of a frame from the field: absent and null mean the same. */
export const lenient = <T extends TSchema & { type: string }>(schema: T): TOptional<TUnsafe<Static<T> | null>> =>
  Type.Optional(nullable(schema));
/** `lenient`, for a field that came later (see `later`). */
export const addedLater = <T extends TSchema & { type: string }>(schema: T): TOptional<TUnsafe<Static<T> | null>> =>
  lenient({ ...schema, [later]: true });
/** Never without a bound: `limits.listItems` unless there is a closer one. */
export const list = <T extends TSchema>(
  items: T,
  description: string,
  options: { maxItems?: number; [overlong]?: 'first' | 'last' } = {},
) => Type.Array(items, { description, maxItems: limits.listItems, ...options });
export const record = <T extends TProperties>(title: string, description: string, properties: T): TObject<T> =>
  Type.Object(properties, { title, description });
/** A frame: an open object whose `type` is fixed. */
export const frame = <N extends string, T extends TProperties>(type: N, description: string, properties: T) =>
  Type.Object({ type: Type.Literal(type), ...properties }, { title: type, description });
