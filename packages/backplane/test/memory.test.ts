import { describeBackplaneContract } from './contract.ts';
import { createMemoryBus } from '../src/index.ts';

describeBackplaneContract('memory', (options) => {
  let skippedMs = 0;
  const bus = createMemoryBus({ ...options, now: () => Date.now() + skippedMs, onError: () => undefined });
  return Promise.resolve({
    connect: (name) => Promise.resolve(bus.connect(name)),
    kill: (instance) => Promise.resolve(bus.kill(instance)),
    flush: () => Promise.resolve(bus.flush()),
    interrupt: (instance) => Promise.resolve(bus.interrupt(instance)),
    advance: (ms) => Promise.resolve(void (skippedMs += ms)),
    close: () => bus.close(),
  });
});
