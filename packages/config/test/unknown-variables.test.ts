import { describe, expect, it } from '@jest/globals';
import { problemsOf } from './problems.ts';

describe('an unknown variable', () => {
  it.each([
    ['AUTH_ISSUER', 'AUTH_ISSUERS'],
    ['RATE_LIMIT_PER_MINUTES', 'RATE_LIMIT_PER_MINUTE'],
    ['SESSION_CREATE_MINUTE', 'SESSION_CREATE_PER_MINUTE'],
    ['DRAIN_SECOND', 'DRAIN_SECONDS'],
    ['PING_INTERVALL_MS', 'PING_INTERVAL_MS'],
    ['QUEUE_TTL_SECONDS', 'QUEUE_TTL_DEFAULT_SECONDS'],
  ])('stops the start with the nearest known name: %s', (name, nearest) => {
    const problems = problemsOf('standalone', { [name]: '1' });
    expect(problems).toEqual([
      { variable: name, message: `${name} is not a variable of the relay. Did you mean ${nearest}?` },
    ]);
  });

  it('stops the start for anything with our own prefix', () => {
    expect(problemsOf('standalone', { RELAY_PORT_NUMBER: '1' })[0]?.variable).toBe('RELAY_PORT_NUMBER');
  });

  it('is named without its value', () => {
    expect(problemsOf('standalone', { AUTH_PASSWORD: 'hunter2' })[0]?.message).not.toContain('hunter2');
  });

  it('of another program does not concern us', () => {
    const env = {
      PATH: '/bin',
      NODE_ENV: 'test',
      HTTP_TIMEOUT_MS: '1',
      SSH_AUTH_SOCK: '/x',
      npm_config_x: '1',
      TASKS: '1',
      RELAY_DAEMON_HOME: '/x',
      RELAY_CLI_TOKEN: 'x',
    };
    expect(problemsOf('standalone', env)).toEqual([]);
  });

  it('that Kubernetes made for a service of such a name is ignored', () => {
    const links = {
      RELAY_API_SERVICE_HOST: '10.0.0.1',
      RELAY_API_SERVICE_PORT: '80',
      RELAY_API_SERVICE_PORT_HTTP: '80',
      RELAY_API_PORT: 'tcp://10.0.0.1:80',
      RELAY_API_PORT_80_TCP: 'tcp://10.0.0.1:80',
      RELAY_API_PORT_80_TCP_PROTO: 'tcp',
      RELAY_API_PORT_80_TCP_ADDR: '10.0.0.1',
    };
    expect(problemsOf('standalone', links)).toEqual([]);
  });

  it('of absurd length fails like any other', () => {
    expect(problemsOf('standalone', { [`RELAY_${'X'.repeat(50_000)}`]: '1' })).toHaveLength(1);
  });
});
