/**
 * All frames and bodies, by name: the schema, its plane, its golden example and the decoder that receives it. The documents
 * and `examples/<name>.json` are made from here; a frame or body that is not listed does not exist.
 */
import {
  type Decoded,
  decodeAppFrame,
  decodeCommand,
  decodeControl,
  decodeDaemonFrame,
  decodeRelayFrame,
  decodeReply,
} from './decode.ts';
import { attentionExamples, fromAppExamples } from './examples/apps.ts';
import { eventExamples, fromDaemonExamples, toDaemonExamples } from './examples/daemon.ts';
import { commandExamples, controlExamples, replyExamples, userFrameExample } from './examples/instances.ts';
import { attentionFrames, fromAppFrames } from './frames/attention.ts';
import { daemonEvents, fromDaemonFrames } from './frames/from-daemon.ts';
import { commands, controls, decodeUserFrame, encodeUserFrame, replies, userFrameKinds } from './frames/instance.ts';
import { toDaemonFrames } from './frames/to-daemon.ts';
import { itemExample, operationExamples, partExamples } from './examples/transcript.ts';
import { Item, operations, parts } from './transcript/index.ts';
import { restBodies } from './routes/bodies.ts';
import { exampleOf } from './routes/body.ts';
import { type TSchema, Type, limits } from './schema.ts';

/** to-daemon: relay → daemon. from-daemon: daemon → relay. attention: relay → app. from-app: app → relay. transcript: inside of frames and pages. */
export type Plane = 'to-daemon' | 'from-daemon' | 'attention' | 'from-app' | 'transcript' | 'instance' | 'rest';

export interface Registered {
  schema: TSchema;
  plane: Plane;
  description: string;
  /** A valid value, as on the wire. */
  example: unknown;
  /** JSON text → the value, through the decoder of the receiving side; undefined when it refuses. */
  decode?: (text: string) => unknown;
}

const frameOf =
  (decode: (text: string) => Decoded<unknown>) =>
  (text: string): unknown => {
    const decoded = decode(text);
    return decoded.kind === 'frame' ? decoded.frame : undefined;
  };

function table<T extends Readonly<Record<string, TSchema>>>(
  plane: Plane,
  prefix: string,
  schemas: T,
  examples: Readonly<Record<keyof T, unknown>>,
  decode?: (text: string) => unknown,
): [string, Registered][] {
  return Object.entries(schemas).map(([name, schema]) => [
    `${prefix}.${name}`,
    { schema, plane, description: schema.description ?? '', example: examples[name], ...(decode ? { decode } : {}) },
  ]);
}

const userFrame: Registered = {
  schema: Type.String({
    title: 'user_frame',
    pattern: `^[${Object.keys(userFrameKinds).join('')}]\\{[\\s\\S]*\\}$`,
    maxLength: limits.daemonFrameBytes,
  }),
  plane: 'instance',
  description:
    'One letter that selects the receivers, then the attention frame as text. After `t`, a line of JSON comes before the frame: `taskId` and `sequence` for the `task_output` of apps that requested only output.',
  example: userFrameExample,
  decode: (text) => {
    const frame = decodeUserFrame(JSON.parse(text) as string);
    return frame && encodeUserFrame(frame.kind, frame.text);
  },
};

/** Items, parts and operations are called by their title. */
const titled = (schemas: Readonly<Record<string, TSchema>>, examples: Readonly<Record<string, unknown>>) =>
  table(
    'transcript',
    'transcript',
    Object.fromEntries(Object.values(schemas).map((schema) => [schema.title ?? '', schema])),
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [schema.title ?? '', examples[name]])),
  );

const fromDaemon = frameOf(decodeDaemonFrame);

/** Name → entry, in the order of the documents. Names are also file names: `examples/<name>.json`. */
export const registry: Readonly<Record<string, Registered>> = Object.fromEntries<Registered>([
  ...table('to-daemon', 'to-daemon', toDaemonFrames, toDaemonExamples, frameOf(decodeRelayFrame)),
  ...table('from-daemon', 'from-daemon', fromDaemonFrames, fromDaemonExamples, fromDaemon),
  ...table('from-daemon', 'from-daemon.event', daemonEvents, eventExamples, fromDaemon),
  ...table('attention', 'attention', attentionFrames, attentionExamples),
  ...table('from-app', 'from-app', fromAppFrames, fromAppExamples, decodeAppFrame),
  ...titled({ item: Item }, { item: itemExample }),
  ...titled(parts, partExamples),
  ...titled(operations, operationExamples),
  ...table('instance', 'instance', commands, commandExamples, decodeCommand),
  ...table('instance', 'instance', replies, replyExamples, decodeReply),
  ...table('instance', 'instance', controls, controlExamples, decodeControl),
  ['instance.user_frame', userFrame],
  ...table(
    'rest',
    'rest',
    restBodies,
    Object.fromEntries(Object.entries(restBodies).map(([name, body]) => [name, exampleOf(body)])),
  ),
]);
