import { describe, expect, it } from '@jest/globals';
import { parseRedisUrl } from '../src/index.ts';

describe('the address of Redis', () => {
  it.each([
    ['redis://localhost', { kind: 'single', nodes: [{ host: 'localhost', port: 6379 }], tls: false, db: 0 }],
    ['redis://10.0.0.1:7000/3', { kind: 'single', nodes: [{ host: '10.0.0.1', port: 7000 }], tls: false, db: 3 }],
    [
      'rediss://relay:p%40ss%3A%2F@[::1]:6380',
      {
        kind: 'single',
        nodes: [{ host: '::1', port: 6380 }],
        tls: true,
        db: 0,
        username: 'relay',
        password: 'p@ss:/',
      },
    ],
    [
      'redis+sentinel://:secret@s1,s2:26380/main/2?sentinelUsername=watch&sentinelPassword=w%20w',
      {
        kind: 'sentinel',
        nodes: [
          { host: 's1', port: 26379 },
          { host: 's2', port: 26380 },
        ],
        tls: false,
        db: 2,
        password: 'secret',
        master: 'main',
        sentinelUsername: 'watch',
        sentinelPassword: 'w w',
      },
    ],
    [
      'rediss+cluster://c1:7000,c2/',
      {
        kind: 'cluster',
        nodes: [
          { host: 'c1', port: 7000 },
          { host: 'c2', port: 6379 },
        ],
        tls: true,
        db: 0,
      },
    ],
  ])('%s is understood', (text, address) => {
    expect(parseRedisUrl(text)).toEqual(address);
  });

  it.each([
    ['http://:hunter2@localhost', 'it is none of'],
    ['localhost:6379', 'it is none of'],
    ['redis://:hunter2@', 'it is none of'],
    ['redis://hunter2@localhost', 'no colon'],
    ['redis://:hunter2%zz@localhost', 'hexadecimal'],
    ['redis://:hunter2@localhost:99999', 'host:port'],
    ['redis://:hunter2@localhost:port', 'host:port'],
    ['redis://:hunter2@a,b', 'redis+cluster://'],
    ['redis://:hunter2@localhost/zero', 'not a number'],
    ['redis://:hunter2@localhost/0/1', 'after the database'],
    ['redis+sentinel://:hunter2@localhost', 'name of the master'],
    ['redis+cluster://:hunter2@localhost/1', 'no database'],
    ['redis://:hunter2@localhost?hunter2=x', 'unknown'],
    ['redis://:hun/ter2@localhost', 'host:port'],
  ])('%s is refused with a reason and without the password', (text, reason) => {
    let message = '';
    try {
      parseRedisUrl(text);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      message = (error as Error).message;
    }
    expect(message).toContain(reason);
    expect(message).not.toMatch(/hunter2|ter2/);
  });
});
