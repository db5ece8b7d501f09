import { describe, expect, it } from '@jest/globals';
import { renderUnicodeCompact } from 'uqr';
import { addressCode } from '../src/address-code.ts';

describe('the code of the address at the start', () => {
  it('leads to the address of the relay', () => {
    const [text = ''] = addressCode('https://relay.example.com', true);
    expect(text).toContain(renderUnicodeCompact('https://relay.example.com', { border: 2 }));
  });

  it.each(['http://localhost:4000', 'http://127.0.0.1:4000', 'http://[::1]:4000'])('does not appear for %s', (url) => {
    expect(addressCode(url, true)).toEqual([]);
  });

  it('stays out of a log', () => {
    expect(addressCode('https://relay.example.com', false)).toEqual([]);
  });
});
