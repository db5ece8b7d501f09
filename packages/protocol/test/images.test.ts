import { describe, expect, it } from '@jest/globals';
import { imageSupport } from '@relay/protocol';

describe('whether a daemon takes images', () => {
  const of = (capabilities: string[], daemonVersion = '', agentType = 'scripted') =>
    imageSupport({ agentType, daemonVersion, capabilities }, { scripted: /^1\.[0-4]\./ });

  it('F6: is what it declares, and open for a daemon that declares nothing of ours', () => {
    expect(of(['auto-update', 'images'], '1.0.0')).toBe('yes');
    expect(of([])).toBe('unconfirmed');
    expect(of(['auto-update'], '1.5.0')).toBe('unconfirmed');
  });

  it('F6: is no for versions known not to take them, and for daemons that would declare it', () => {
    expect(of(['auto-update'], '1.4.9')).toBe('no');
    expect(of(['auto-update'], '1.4.9', 'other')).toBe('unconfirmed');
    for (const name of ['receipts', 'usage', 'context', 'refusals']) expect(of([name])).toBe('no');
  });
});
