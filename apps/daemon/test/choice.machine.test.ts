import { afterEach, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ChoiceOptions, agentOf, choiceOf, choiceOfConfig, furtherOf } from '../src/agents/choice.ts';
import { installCommand, presetOf, presets, testedVersion } from '../src/agents/acp/presets.ts';
import { commandWords, findProgram, packageVersion, scriptOfShim } from '../src/agents/programs.ts';
import { silentLog } from '@relay/daemon-kit';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());
const config = { server: 's', device_id: 'd', hostname: 'h', name: 'n', agent_type: 'demo', registered_at: 'r' };

describe('the choice of an agent', () => {
  it.each<[string, string[], ChoiceOptions, unknown]>([
    ['nothing', [], {}, undefined],
    ['a program', ['cat', '-u'], {}, { kind: 'command', program: 'cat', args: ['-u'] }],
    ['a preset', [], { agent: 'claude', mode: 'plan' }, { kind: 'acp', preset: 'claude_code', mode: 'plan' }],
    ['the demonstration', [], { agent: 'demo' }, { kind: 'acp', preset: 'demo' }],
    ['any ACP agent', ['x', '--acp'], { agent: 'acp' }, { kind: 'acp', program: 'x', args: ['--acp'] }],
    [
      'any ACP agent with separate arguments',
      [],
      { agentCommand: '"my agent" --acp' },
      { kind: 'acp', program: 'my agent', args: ['--acp'] },
    ],
    [
      'any ACP agent by its path, kept whole',
      [],
      { agentCommand: './my-agent --acp' },
      { kind: 'acp', program: resolve('my-agent'), args: ['--acp'] },
    ],
    ['a script', [], { script: '/s.json' }, { kind: 'scripted', script: '/s.json' }],
  ])('is accepted: %s', (_name, words, options, choice) => {
    expect(choiceOf(words, options)).toEqual(choice);
  });

  it.each<[string, string[], ChoiceOptions, string]>([
    ['an unknown name', [], { agent: 'magic' }, 'claude_code, codex'],
    ['no program', [], { agent: 'acp' }, 'Name the program'],
    ['two agents', ['cat'], { agentCommand: 'x' }, 'neither'],
    ['a script for a preset', [], { agent: 'codex', script: 'x' }, '--script needs'],
  ])('is refused: %s', (_name, words, options, sentence) => {
    expect(() => choiceOf(words, options)).toThrow(sentence);
  });

  it('is automatic with "auto": the best installed agent, else the demonstration', () => {
    const folder = folders.make();
    const install = (name: string) => writeFileSync(join(folder, name), '', { mode: 0o755 });
    const auto = () => choiceOf([], { agent: 'auto' }, { PATH: folder });
    expect(auto()).toEqual({ kind: 'acp', preset: 'demo' });
    install('gemini');
    expect(auto()).toEqual({ kind: 'acp', preset: 'gemini' });
    install('codex-acp');
    expect(auto()).toEqual({ kind: 'acp', preset: 'codex' });
    expect(() => choiceOf(['x'], { agent: 'auto' }, { PATH: folder })).toThrow('no program');
  });

  it('can be several to choose among: named agents, or with "auto" all installed ones', () => {
    const folder = folders.make();
    const env = { PATH: folder };
    for (const name of ['gemini', 'codex-acp']) writeFileSync(join(folder, name), '', { mode: 0o755 });
    const further = (options: ChoiceOptions, words: string[] = []) =>
      furtherOf(choiceOf(words, options, env), options, env);
    expect(further({ agent: 'auto' })).toEqual([{ kind: 'acp', preset: 'gemini' }]);
    expect(further({ agent: 'claude', further: ['codex', 'demo', 'codex', 'claude'] })).toEqual([
      { kind: 'acp', preset: 'codex' },
      { kind: 'acp', preset: 'demo' },
    ]);
    expect(further({ agent: 'claude' })).toEqual([]);
    expect(further({})).toBeUndefined();
    expect(() => further({ agent: 'claude', further: ['magic'] })).toThrow('magic');
    expect(() => further({ agent: 'scripted', further: ['codex'] })).toThrow('Several agents');
  });

  it('is an agent that never asks only where a person names it and allows full access', () => {
    const folder = folders.make();
    writeFileSync(join(folder, 'pi-acp'), '', { mode: 0o755 });
    expect(choiceOf([], { agent: 'auto' }, { PATH: folder })).toEqual({ kind: 'acp', preset: 'demo' });
    const place = { rules: { defaultPath: folder, allowed: [folder] }, stateDir: folder, log: silentLog };
    for (const limit of [{ noFullAccess: true }, { askAtDesk: () => Promise.resolve('') }])
      expect(() => agentOf({ kind: 'acp', preset: 'pi' }, { ...place, ...limit })).toThrow('without asking');
    expect(agentOf({ kind: 'acp', preset: 'pi' }, place).agent).toBeDefined();
  });

  it('by default follows the config, then the agent type, then the demonstration', () => {
    expect(choiceOfConfig({ ...config, agent: { kind: 'acp', preset: 'codex' } })).toEqual({
      kind: 'acp',
      preset: 'codex',
    });
    expect(choiceOfConfig({ ...config, agent_type: 'opencode' })).toEqual({ kind: 'acp', preset: 'opencode' });
    expect(choiceOfConfig(config)).toEqual({ kind: 'scripted' });
  });
});

describe('the table of agents', () => {
  it('lists a version and a login method for each, and no name twice', () => {
    expect(new Set(presets.map(({ name }) => name)).size).toBe(presets.length);
    for (const preset of presets) {
      const { login, name } = preset;
      expect(testedVersion(preset) ?? '0.0.0').toMatch(/^\d+\.\d+\.\d+$/);
      expect(installCommand(preset)).toMatch(/^(npm install|curl) /);
      expect(login).not.toBe('');
      expect(name).toMatch(/^[a-z][a-z_]*$/);
    }
    expect(presetOf('claude-code')?.name).toBe('claude_code');
  });
});

describe('programs', () => {
  it('are found as a shell finds them, with the version of their package', () => {
    expect(findProgram('node', { PATH: `/nowhere:${process.execPath.replace(/\/node$/, '')}` })).toBe(process.execPath);
    expect(findProgram('node', { PATH: '/nowhere' })).toBeUndefined();
    expect(findProgram(process.execPath, {})).toBe(process.execPath);
    const jest = new URL('../../../node_modules/.bin/jest', import.meta.url).pathname;
    expect(packageVersion(jest, 'jest')).toMatch(/^\d+\./);
    expect(packageVersion(jest, 'something-else')).toBeUndefined();
  });

  it('on Windows are executables, and not the script for other systems that npm writes beside them', () => {
    const folder = folders.make();
    for (const name of ['x', 'x.CMD', 'x.ps1', 'y', 'z.old', 'z.old.CMD'])
      writeFileSync(join(folder, name), '', { mode: 0o755 });
    const env = { PATH: folder, PATHEXT: '.EXE;.CMD' };
    const found = (name: string, platform: NodeJS.Platform) => findProgram(name, env, platform);
    expect(found('x', 'win32')).toBe(join(folder, 'x.CMD'));
    expect(found('x.CMD', 'win32')).toBe(join(folder, 'x.CMD'));
    expect(found(join(folder, 'x'), 'win32')).toBe(join(folder, 'x.CMD'));
    expect(found('y', 'win32')).toBeUndefined();
    expect(found('z.old', 'win32')).toBe(join(folder, 'z.old'));
    expect(found('x', 'linux')).toBe(join(folder, 'x'));
  });

  it('inside a Windows shim are found in its text', () => {
    const shim = '@ECHO off\r\n"%_prog%"  "%dp0%\\node_modules\\@a\\b\\dist\\cli.js" %*\r\n';
    expect(scriptOfShim(shim)).toBe('node_modules/@a/b/dist/cli.js');
    expect(scriptOfShim('@ECHO off')).toBeUndefined();
  });

  it('are split from their arguments at spaces, with quotes', () => {
    expect(commandWords(`a 'b c' "d \\"e" f`)).toEqual(['a', 'b c', 'd "e', 'f']);
  });
});
