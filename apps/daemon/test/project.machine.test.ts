import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { rulesOf } from '../src/agents/choice.ts';
import { identityOf, isAllowed, projectFolder } from '../src/agents/project.ts';
import { homeOf } from '../src/home.ts';
import { demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const world = () => {
  const root = home.folder();
  const place = (name: string) => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };
  const [inside, outside, beside] = [place('inside'), place('outside'), place('inside-not')];
  const project = place('inside/project');
  symlinkSync(outside, join(inside, 'escape'));
  symlinkSync(project, join(root, 'shortcut'));
  symlinkSync(inside, join(root, 'allowed-link'));
  writeFileSync(join(inside, 'file'), '');
  return { root, inside, outside, beside, project };
};

describe('a project path', () => {
  it('resolves to a real folder, which must be an allowed one or below one', () => {
    const { root, inside, project } = world();
    const rules = { defaultPath: project, allowed: [inside] };
    expect(projectFolder(inside, rules)).toEqual({ directory: inside });
    expect(projectFolder(`${project}/../project/`, rules)).toEqual({ directory: project });
    expect(projectFolder(join(root, 'shortcut'), rules)).toEqual({ directory: project });
    expect(projectFolder('', rules)).toEqual({ directory: project });
    expect(projectFolder(project, { defaultPath: project, allowed: [join(root, 'allowed-link')] })).toEqual({
      directory: project,
    });
  });

  it.each([
    ['outside', 'lies outside'],
    ['inside/../outside', 'lies outside'],
    ['inside/escape', 'lies outside'],
    ['inside-not', 'lies outside'],
    ['.', 'lies outside'],
    ['inside/nothing', 'does not exist'],
    ['inside/file', 'is not a directory'],
    ['inside/project\0/x', 'contains a null character'],
  ])('"%s" is refused: %s', (name, words) => {
    const { root, inside } = world();
    expect(projectFolder(`${root}/${name}`, { defaultPath: inside, allowed: [inside] })).toEqual({
      error: expect.stringContaining(words),
    });
  });

  it("must be absolute; ~ is the user's home", () => {
    expect(projectFolder('some/where', { defaultPath: '/' })).toEqual({
      error: expect.stringContaining('must be absolute'),
    });
    expect(projectFolder('~', { defaultPath: '/', allowed: [homedir()] })).toEqual({ directory: expect.any(String) });
  });

  it('outside the allowed folders fails the task with ERROR, and starts nothing', async () => {
    const { inside, outside } = world();
    const relay = await home.relay();
    // The error would name a program that cannot start.
    const { agent } = demoAgent(home, { program: '/nowhere/agent', rules: { defaultPath: inside, allowed: [inside] } });
    home.daemon(relay, agent);
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello', project_path: outside });
    const { error } = await connection.event('ERROR', 't1');
    expect(error).toContain('lies outside the folders');
    expect(error).not.toContain('nowhere');
  });

  it("can be in the allowed folders; in the user's home for an older registration without any", () => {
    const here = process.cwd();
    const place = { roots: [] };
    expect(rulesOf({}, {}, place)).toMatchObject({ defaultPath: here, allowed: [homedir(), here] });
    expect(rulesOf({ allow: ['/a'], project: '/p' }, {}, place)).toMatchObject({
      defaultPath: '/p',
      allowed: ['/a', '/p'],
    });
    expect(rulesOf({ allow: ['/a'] }, { allow: ['/b'], project: '/b' }, place)).toMatchObject({
      defaultPath: '/b',
      allowed: ['/b'],
    });
  });

  it('S18: is never in a key folder, even an allowed one: of the daemon, of relay, of ssh', () => {
    const root = home.folder();
    const own = homeOf({ home: join(root, 'daemon'), profile: 'work', env: {} });
    const env = { HOME: root, RELAY_CLI_CONFIG_DIR: join(root, 'cli') };
    const closed = ['.ssh', '.ssh/below', 'cli', '.config/relay', '.config/relay-daemon', '.local/state/relay-daemon'];
    for (const name of [...closed, 'daemon/state/sessions', 'daemon/profiles/other', 'project', '.config/relayed']) {
      mkdirSync(join(root, name), { recursive: true });
    }
    symlinkSync(join(root, '.ssh'), join(root, 'project', 'innocent'));
    const rules = rulesOf({}, { allow: [root, '/'], project: root }, own, env);
    for (const name of [...closed, 'daemon', 'daemon/state/sessions', 'daemon/profiles/other', 'project/innocent']) {
      expect(projectFolder(join(root, name), rules)).toEqual({ error: expect.stringContaining('no agent is started') });
      expect(isAllowed(join(root, name), rules)).toBe(false);
    }
    for (const name of ['project', '.config', '.config/relayed', '']) {
      expect(projectFolder(join(root, name), rules)).toEqual({ directory: join(root, name).replace(/\/$/, '') });
    }
  });

  it('S19: outside the allowed folders causes an error that does not reveal existence, type or target of the path', () => {
    const { root, inside, outside } = world();
    writeFileSync(join(outside, 'file'), '');
    symlinkSync(join(outside, 'file'), join(outside, 'link'));
    symlinkSync(join(outside, 'nothing'), join(inside, 'dangling'));
    const rules = { defaultPath: inside, allowed: [inside], closed: [join(root, 'outside', 'keys')] };
    const errors = [
      'outside',
      'outside/nothing',
      'outside/nothing/below',
      'outside/file',
      'outside/file/x',
      'outside/link',
      'outside/keys',
      'inside/escape',
      'inside/escape/nothing',
      'inside/dangling',
    ].map((name) => {
      const answer = projectFolder(join(root, name), rules);
      return 'error' in answer ? answer.error.replaceAll(join(root, name), 'PATH') : answer;
    });
    expect(new Set(errors)).toEqual(
      new Set([
        `The project path PATH lies outside the folders that this daemon may work in: ${inside}. Allow it with --allow on that machine.`,
      ]),
    );
  });

  it('S9: is compared with closed folders by identity, on a file system that ignores case, and through other names', () => {
    const { root, inside } = world();
    const made = (...names: string[]) => {
      for (const name of names) mkdirSync(join(root, name), { recursive: true });
    };
    made('.ssh/below', 'Work');
    // On this file system the other spellings are separate folders. On a case-insensitive one they are the same.
    made('.SSH/Below', '.Ssh', 'work', 'WORK/project');
    const ignoringCase = (path: string) =>
      identityOf(
        path.startsWith(root)
          ? join(root, path.slice(root.length).replace(/\.ssh/i, '.ssh').replace(/work/i, 'Work'))
          : path,
      );
    const rules = { defaultPath: inside, allowed: [root], closed: [join(root, '.ssh')] };
    for (const name of ['.ssh', '.SSH', '.Ssh', '.SSH/Below', '.ssh/below']) {
      const path = join(root, name);
      expect([name, projectFolder(path, rules, ignoringCase)]).toEqual([
        name,
        { error: expect.stringContaining('holds keys') },
      ]);
      expect(isAllowed(path, rules, ignoringCase)).toBe(false);
    }
    // A deleted folder is still below a closed one.
    expect(isAllowed(join(root, '.SSH/gone/deeper'), rules, ignoringCase)).toBe(false);
    // An allowed folder is the same folder in another spelling.
    const work = { ...rules, allowed: [join(root, 'Work')] };
    expect(projectFolder(join(root, 'WORK/project'), work, ignoringCase)).toEqual({
      directory: join(root, 'WORK/project'),
    });
    // A link leads to the closed folder; a neighbour with a similar name is another folder.
    symlinkSync(join(root, '.ssh'), join(root, 'innocent'));
    made('.ssh-notes');
    expect(projectFolder(join(root, 'innocent/below'), rules)).toEqual({
      error: expect.stringContaining('holds keys'),
    });
    expect(projectFolder(join(root, '.ssh-notes'), rules)).toEqual({ directory: join(root, '.ssh-notes') });
  });
});
