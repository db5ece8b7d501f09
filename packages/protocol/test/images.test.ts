import { describe, expect, it } from '@jest/globals';
import { imageSupport } from '@relay/protocol';

describe('whether a daemon takes images', () => {
  const of = (capabilities: string[], daemonVersion = '', agentType = 'scripted') =>
    imageSupport({ agentType, daemonVersion, capabilities }, { scripted: /^1\.[0-4]\./ });

  it('F6: follows the declaration, and stays open for a daemon without our declarations', () => {
    expect(of(['auto-update', 'images'], '1.0.0')).toBe('yes');
    expect(of([])).toBe('unconfirmed');
    expect(of(['auto-update'], '1.5.0')).toBe('unconfirmed');
  });

  it('F6: rejects versions without support, and daemons that would declare it', () => {
    expect(of(['auto-update'], '1.4.9')).toBe('no');
    expect(of(['auto-update'], '1.4.9', 'other')).toBe('unconfirmed');
    for (const name of ['receipts', 'usage', 'context', 'refusals']) expect(of([name])).toBe('no');
  });
});
