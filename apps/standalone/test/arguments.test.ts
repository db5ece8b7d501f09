import { describe, expect, it } from '@jest/globals';
import { readArguments } from '../src/arguments.ts';

describe('the arguments of the relay', () => {
  it('are empty, or open it to the local network', () => {
    expect(readArguments([])).toEqual({});
    expect(readArguments(['--lan'])).toEqual({ lan: { host: undefined, port: 4443 } });
    expect(readArguments(['--lan', '--lan-host', 'laptop.local', '--lan-port=8443'])).toEqual({
      lan: { host: 'laptop.local', port: 8443 },
    });
  });

  it('can request only the help or the version', () => {
    expect(readArguments(['--help', '--lan'])).toEqual({ only: 'help' });
    expect(readArguments(['--version'])).toEqual({ only: 'version' });
  });

  it.each([
    ['an unknown word', ['--wan'], /--wan.*[^]*Usage/],
    ['a port that is none', ['--lan', '--lan-port', 'https'], /--lan-port is "https"; it must be/],
    ['the last port, which has no next one', ['--lan', '--lan-port', '65535'], /1 to 65534/],
    ['an option of the local network without it', ['--lan-port', '4443'], /need --lan/],
  ])('are refused with the valid arguments: %s', (_, words, says) => {
    expect(() => readArguments(words)).toThrow(says);
  });
});
