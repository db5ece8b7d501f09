import { describe, expect, it } from '@jest/globals';
import { type LogOptions, createLog } from '../src/log.ts';

const lines = (options: Partial<LogOptions> = {}) => {
  const written: string[] = [];
  return { written, log: createLog({ write: (line) => written.push(line), now: () => 0, ...options }) };
};

describe('the log', () => {
  it('writes one line per event for people', () => {
    const { written, log } = lines();
    log.info('connected', { server: 'http://localhost:4000', device: 'd1', nothing: undefined });
    log.warn('disconnected', { why: 'two words\n\u001b[31mred' });
    expect(written).toEqual([
      '1970-01-01T00:00:00.000Z info connected server=http://localhost:4000 device=d1\n',
      '1970-01-01T00:00:00.000Z warn disconnected why="two words\\n\\u001b[31mred"\n',
    ]);
  });

  it('writes JSON on request', () => {
    const { written, log } = lines({ json: true });
    log.info('connected', { server: 'x' });
    expect(JSON.parse(written[0] ?? '')).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      level: 'info',
      event: 'connected',
      server: 'x',
    });
  });

  it('never shows a secret, wherever it appears', () => {
    for (const json of [true, false]) {
      const { written, log } = lines({ json, secrets: ['rly_drt_x'], verbose: true });
      log.warn('rly_drt_x', { why: 'header rly_drt_x refused' });
      log.speech('said', { text: 'rly_drt_x' });
      expect(written.join('')).not.toContain('rly_drt_x');
    }
  });

  it('shows texts of a conversation only when verbose', () => {
    const quiet = lines();
    quiet.log.speech('said', { text: 'hello' });
    expect(quiet.written).toEqual([]);
    const verbose = lines({ verbose: true });
    verbose.log.speech('said', { text: 'hello' });
    expect(verbose.written).toHaveLength(1);
  });
});
