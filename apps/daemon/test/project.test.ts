import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { rulesOf } from '../src/agents/choice.ts';
import { projectFolder } from '../src/agents/project.ts';
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
  it('is followed to a real folder, and may be an allowed one or lie below one', () => {
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
    ['inside/project\0/x', 'is not a path'],
  ])('"%s" is refused: %s', (name, words) => {
    const { root, inside } = world();
    expect(projectFolder(`${root}/${name}`, { defaultPath: inside, allowed: [inside] })).toEqual({
      error: expect.stringContaining(words),
    });
  });

  it('must be absolute; ~ is the home of the user', () => {
    expect(projectFolder('some/where', { defaultPath: '/' })).toEqual({
      error: expect.stringContaining('must be absolute'),
    });
    expect(projectFolder('~', { defaultPath: '/', allowed: [homedir()] })).toEqual({ directory: expect.any(String) });
  });

  it('outside the allowed folders ends the task with ERROR, and nothing is started', async () => {
    const { inside, outside } = world();
    const relay = await home.relay();
    // A program that cannot be started would be named in the error.
    const { agent } = demoAgent(home, { program: '/nowhere/agent', rules: { defaultPath: inside, allowed: [inside] } });
    home.daemon(relay, agent);
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello', project_path: outside });
    const { error } = await connection.event('ERROR', 't1');
    expect(error).toContain('lies outside the folders');
    expect(error).not.toContain('nowhere');
  });

  it('may be the home of the user, the folder of the start, or what was allowed instead', () => {
    const here = process.cwd();
    expect(rulesOf({}, {})).toEqual({ defaultPath: here, allowed: [homedir(), here] });
    expect(rulesOf({ allow: ['/a'], project: '/p' }, {})).toEqual({ defaultPath: '/p', allowed: ['/a', '/p'] });
    expect(rulesOf({ allow: ['/a'] }, { allow: ['/b'], project: '/b' })).toEqual({
      defaultPath: '/b',
      allowed: ['/b'],
    });
  });
});
