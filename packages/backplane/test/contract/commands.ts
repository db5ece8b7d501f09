/** Promises about commands: from any instance to the owner of the device. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Backplane, BackplaneOptions } from '../../src/backplane.ts';
import type { Command, RouteOutcome } from '../../src/commands.ts';
import {
  type ContractBus,
  type MakeBus,
  passing,
  codeOf,
  createEar,
  createStage,
  createGate,
  until,
} from './harness.ts';

/** An api and a gateway that owns `device`. */
type Open = (
  options?: Partial<BackplaneOptions>,
) => Promise<{ bus: ContractBus; api: Backplane; gateway: Backplane; fence: number }>;

export function describeCommands(makeBus: MakeBus): void {
  describe('a command', () => {
    const stage = createStage(makeBus);
    afterEach(stage.clear);

    const open: Open = async (options) => {
      const bus = await stage.open(options);
      const [api, gateway] = [await bus.connect('api'), await bus.connect('gateway')];
      const { fence } = await gateway.claim('device', 'c1');
      return { bus, api, gateway, fence };
    };

    testAcknowledgements(open);
    testRefusals(open);
    testAbsentOwners(open);
  });
}

const acceptInto = (gateway: Backplane) => {
  const commands = createEar<Command>();
  gateway.onCommand((command) => {
    commands.add(command);
    return true;
  });
  return commands;
};

function testAcknowledgements(open: Open): void {
  it('reaches the owner with its text and the fence of the lease, and is sent when it was acknowledged', async () => {
    const { api, gateway, fence } = await open();
    const commands = acceptInto(gateway);
    expect(await api.route('device', 'żółw 🐢 "quoted"\n')).toBe('sent');
    expect(commands.heard).toEqual([{ device: 'device', fence, body: 'żółw 🐢 "quoted"\n' }]);
  });

  it('reaches the sender itself when it is the owner', async () => {
    const { gateway } = await open();
    const commands = acceptInto(gateway);
    expect(await gateway.route('device', 'to myself')).toBe('sent');
    expect(commands.heard).toHaveLength(1);
  });

  it('is not sent before the owner has acknowledged it', async () => {
    const { api, gateway } = await open();
    const gate = createGate<boolean>();
    const arrived = createEar<string>();
    gateway.onCommand(({ body }) => {
      arrived.add(body);
      return body === 'slow' ? gate.opened : true;
    });
    const outcomes: string[] = [];
    const slow = api.route('device', 'slow', 10_000).then((outcome) => outcomes.push(`slow ${outcome}`));
    await arrived.next();
    outcomes.push(`quick ${await api.route('device', 'quick')}`);
    gate.open(true);
    await slow;
    expect(outcomes).toEqual(['quick sent', 'slow sent']);
  });

  it('whose deadline has passed never leaves', async () => {
    const { api, gateway } = await open();
    const commands = acceptInto(gateway);
    expect(await api.route('device', 'too late', 0)).toBe('expired');
    expect(await api.route('device', 'in time')).toBe('sent');
    expect(commands.heard.map(({ body }) => body)).toEqual(['in time']);
  });

  it('that is not acknowledged by its deadline is unknown', async () => {
    const { api, gateway } = await open();
    const never = createGate<boolean>();
    gateway.onCommand(() => never.opened);
    // Long enough for a busy machine: a command that does not leave by its deadline is expired.
    expect(await api.route('device', 'hello?', 1_000)).toBe('unknown');
    never.open(false);
  });

  it('of one sender keeps its place, even if the owner is busy', async () => {
    const { api, gateway } = await open();
    const heard: string[] = [];
    const busy = createGate<boolean>();
    gateway.onCommand(({ body }) => {
      heard.push(body);
      return body === '0' ? busy.opened : true;
    });
    const bodies = Array.from({ length: 300 }, (_, n) => String(n));
    const routed = bodies.map((body) => api.route('device', body, 10_000));
    await Promise.all(routed.slice(1));
    busy.open(true);
    expect(new Set(await Promise.all(routed))).toEqual(new Set<RouteOutcome>(['sent']));
    expect(heard).toEqual(bodies);
  });

  it('waits for its acknowledgement only up to the limit', async () => {
    const { api, gateway } = await open({ maxPending: 3 });
    const busy = createGate<boolean>();
    const arrived = createEar<Command>();
    gateway.onCommand((command) => {
      arrived.add(command);
      return busy.opened;
    });
    const waiting = [1, 2, 3].map((n) => api.route('device', `${n}`, 10_000));
    await until('three are waiting', () => arrived.heard.length === 3);
    expect(await codeOf(api.route('device', '4'))).toBe('OVERLOADED');
    busy.open(true);
    expect(await Promise.all(waiting)).toEqual(['sent', 'sent', 'sent']);
    expect(await api.route('device', '5')).toBe('sent');
    expect(arrived.heard.map(({ body }) => body).sort()).toEqual(['1', '2', '3', '5']);
  });

  it('on its way when its sender closes is unknown', async () => {
    const { api, gateway } = await open();
    const busy = createGate<boolean>();
    const arrived = createEar<Command>();
    gateway.onCommand((command) => {
      arrived.add(command);
      return busy.opened;
    });
    const routed = api.route('device', 'hello', 10_000);
    await arrived.next();
    await api.close();
    expect(await routed).toBe('unknown');
    busy.open(true);
  });

  it('is answered by one listener only', async () => {
    const { gateway } = await open();
    gateway.onCommand(() => true);
    expect(() => gateway.onCommand(() => true)).toThrow(TypeError);
  });
}

function testRefusals(open: Open): void {
  it('is retried once after a refusal', async () => {
    const { api, gateway } = await open();
    const answers = [false, true];
    gateway.onCommand(() => answers.shift() ?? false);
    expect(await api.route('device', 'again')).toBe('sent');
    expect(answers).toEqual([]);
  });

  it('stays refused after two refusals', async () => {
    const { api, gateway } = await open();
    const commands = createEar<Command>();
    gateway.onCommand((command) => {
      commands.add(command);
      return command.body === 'welcome';
    });
    expect(await api.route('device', 'unwelcome')).toBe('refused');
    expect(await api.route('device', 'welcome')).toBe('sent');
    expect(commands.heard.map(({ body }) => body)).toEqual(['unwelcome', 'unwelcome', 'welcome']);
  });

  it('is refused by a listener that throws or rejects, and by an instance without a listener', async () => {
    const { bus, api, gateway } = await open();
    gateway.onCommand(({ body }) => {
      if (body === 'throw') throw new Error('broken');
      return Promise.reject(new Error('broken'));
    });
    expect(await api.route('device', 'throw')).toBe('refused');
    expect(await api.route('device', 'reject')).toBe('refused');
    const mute = await bus.connect('mute');
    await mute.claim('mute', 'c2');
    expect(await api.route('mute', 'hello')).toBe('refused');
  });

  it('that the old owner refuses goes to the new one', async () => {
    const { bus, api, gateway } = await open();
    const other = await bus.connect('other');
    const commands = acceptInto(other);
    gateway.onCommand(async () => {
      await other.claim('device', 'c2');
      return false;
    });
    expect(await api.route('device', 'moved')).toBe('sent');
    expect(commands.heard).toHaveLength(1);
  });
}

/** The owner released the device, closed or vanished, or its time is over. */
function testAbsentOwners(open: Open): void {
  it('to a device without an owner is offline', async () => {
    const { api, gateway, fence } = await open();
    const commands = acceptInto(gateway);
    expect(await api.route('nobody', 'hello')).toBe('offline');
    await gateway.release('device', fence);
    expect(await api.route('device', 'hello')).toBe('offline');
    expect(commands.heard).toEqual([]);
  });

  it('to a device with an expired lease is offline', async () => {
    const { bus, api, gateway } = await open({ leaseTtlMs: 200 });
    acceptInto(gateway);
    const isOffline = async () => (await api.route('device', 'hello')) === 'offline';
    await until('the device is offline', isOffline, passing(bus, 100));
  });

  it('to an instance that vanished finds the owner gone', async () => {
    const { bus, api, gateway } = await open({ ownerGoneRetryMs: 1_000 });
    acceptInto(gateway);
    await bus.kill(gateway.instance);
    // Time for a busy machine after the second look, a second later.
    expect(await api.route('device', 'hello?', 10_000)).toBe('owner_gone');
    // Less time than the pause before a second look: the relay does not wait for it. A busy machine has enough for the first.
    expect(await api.route('device', 'hello?', 900)).toBe('owner_gone');
    const heir = await bus.connect('heir');
    acceptInto(heir);
    await heir.claim('device', 'c2');
    expect(await api.route('device', 'hello?')).toBe('sent');
  });

  it('finds the device again that moved while its owner was gone', async () => {
    const { bus, api, gateway } = await open();
    const heir = await bus.connect('heir');
    const commands = acceptInto(heir);
    await bus.kill(gateway.instance);
    const routed = api.route('device', 'hello?', 10_000);
    await heir.claim('device', 'c2');
    expect(await routed).toBe('sent');
    expect(commands.heard).toHaveLength(1);
  });

  it('to an instance that closed is offline', async () => {
    const { api, gateway } = await open();
    await gateway.close();
    expect(await api.route('device', 'hello?')).toBe('offline');
  });
}
