/**
 * The words every schema is made of: texts, ids, times, and the limits of contract §3 and §5.
 * Knows nothing of frames or routes. Objects stay open: unknown fields pass in both directions (rule of growth).
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

/** Sizes in characters (text) or bytes (bodies, frames). Sources: contract §3 "Limits", §5, §6, §9. */
export const limits = {
  requestBodyBytes: 1024 * 1024,
  /** Of requests that may carry images: what they may hold in base64, and the largest message in its longest spelling. */
  imageRequestBytes: 16 * 1024 * 1024,
  images: 8,
  /** One image, decoded. */
  imageBytes: 5 * 1024 * 1024,
  /** All images of a message, decoded: in base64, and with the message, they fit into one frame for a daemon. */
  imagesBytes: 10 * 1024 * 1024,
  /** All images that wait for one device, as data URLs. */
  waitingImageBytes: 64 * 1024 * 1024,
  messageBytes: 256 * 1024,
  idCharacters: 512,
  /** `<device_id>:<agent_type>:` of at most 512 characters and one more, then a native id of at most 512. */
  sessionIdCharacters: 1025,
  idempotencyKeyCharacters: 200,
  titleCharacters: 80,
  nameCharacters: 200,
  hostnameCharacters: 255,
  daemonFrameBytes: 16 * 1024 * 1024,
  attentionFrameBytes: 64 * 1024,
  lastMessageBytes: 2048,
  historyPage: 200,
  historyPageDefault: 50,
  sessionsPage: 200,
  sessionsDefault: 1000,
  queuedTasks: 20,
  slashCommands: 500,
  contextBytes: 64 * 1024,
  capabilities: 32,
  queueTtlSeconds: 86_400,
  /** The credential of a device that was not connected for so long is worth nothing any more (contract §4). */
  deviceTokenIdleSeconds: 90 * 86_400,
} as const;

/** What an agent type looks like (contract §4). Neither it nor a device id ever contains a colon. */
export const agentTypePattern = '^[a-z0-9][a-z0-9_-]{0,63}$';

export const text = (description: string, options: { minLength?: number; maxLength?: number; pattern?: string } = {}) =>
  Type.String({ description, ...options });
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
export const list = <T extends TSchema>(items: T, description: string) => Type.Array(items, { description });
export const record = <T extends TProperties>(title: string, description: string, properties: T): TObject<T> =>
  Type.Object(properties, { title, description });
/** A frame: an open object whose `type` is fixed. */
export const frame = <N extends string, T extends TProperties>(type: N, description: string, properties: T) =>
  Type.Object({ type: Type.Literal(type), ...properties }, { title: type, description });
