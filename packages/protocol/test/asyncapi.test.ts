/** The AsyncAPI document holds together and has every frame of the WebSocket planes. */
import { describe, expect, it } from '@jest/globals';
import { asyncApiDocument } from '../src/documents/index.ts';
import { registry } from '../src/registry.ts';
import { closeCodes } from '../src/index.ts';
import { compiler, follow, references } from './documents.ts';
import { violations } from './violations.ts';

interface Message {
  payload: { $ref: string };
  examples: { payload: unknown }[];
}

const document = asyncApiDocument({ wsUrl: 'wss://relay.example.com', version: '7.8.9' });
const components = document.components as unknown as { messages: Record<string, Message>; schemas: object };
const webSocketPlanes = Object.entries(registry).filter(
  ([, { plane }]) => plane !== 'rest' && plane !== 'instance' && plane !== 'transcript',
);
const planeNames = webSocketPlanes.map(([name]) => name);
/** Compiles each schema once. */
const compile = compiler(document);

describe('the AsyncAPI document', () => {
  it('is AsyncAPI 3, with the address and version that it was asked for', () => {
    expect(document).toMatchObject({
      asyncapi: '3.0.0',
      info: { version: '7.8.9' },
      servers: { relay: { host: 'relay.example.com', protocol: 'wss' } },
    });
  });

  it('keeps port and path of the address', () => {
    const { servers } = asyncApiDocument({ wsUrl: 'ws://127.0.0.1:4000/relay/', version: '1.0.0' });
    expect(servers).toEqual({ relay: { host: '127.0.0.1:4000', protocol: 'ws', pathname: '/relay' } });
  });

  it('has only references that lead somewhere', () => {
    const broken = references(document).filter(
      ({ ref }) => !ref.startsWith('#/') || follow(document, ref) === undefined,
    );
    expect(broken).toEqual([]);
  });

  it('has every frame of the two planes as a message', () => {
    expect(Object.keys(components.messages)).toEqual(planeNames);
  });

  it('has schemas that all compile', () => {
    expect(
      violations(Object.entries(components.schemas), (_schema, name) => compile(`#/components/schemas/${name}`)),
    ).toEqual([]);
  });

  it('has one example of every message, which fits its payload', () => {
    expect(
      violations(webSocketPlanes, (_entry, name) => {
        const message = components.messages[name];
        const check = compile(message?.payload.$ref ?? '');
        expect(message?.examples.map(({ payload }) => check(payload))).toEqual([[]]);
      }),
    ).toEqual([]);
  });

  it('sends or receives every message in some operation, and each only over its own channel', () => {
    const channels = document.channels as Record<string, { messages: Record<string, { $ref: string }> }>;
    const inChannels = Object.values(channels).flatMap(({ messages }) =>
      Object.values(messages).map(({ $ref }) => $ref),
    );
    expect(inChannels.sort()).toEqual(planeNames.map((name) => `#/components/messages/${name}`).sort());

    const spoken = references(document.operations)
      .map(({ ref }) => ref)
      .filter((ref) => ref.includes('/messages/'))
      .map((ref) => (follow(document, ref) as { $ref: string }).$ref);
    expect(spoken.sort()).toEqual(inChannels);
  });

  it('lists the close codes of every channel', () => {
    for (const channel of Object.values(document.channels as Record<string, { 'x-close-codes': { code: number }[] }>)) {
      expect(channel['x-close-codes'].map(({ code }) => code)).toEqual(
        Object.values(closeCodes).map(({ code }) => code),
      );
    }
  });

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});
