/** `relay-daemon desk-questions`: whether the questions of Claude Code in a terminal are asked in apps as well. */
import { exitCodes, makePrivateFolder } from '@relay/daemon-kit';
import { type Terminal, Failure, reasonOf } from '@relay/machine';
import { doorAddress } from '../desk-questions/door.ts';
import { entryFor, isOn, settingsFile, turnOff, turnOn } from '../desk-questions/settings.ts';
import { programFile } from '../files.ts';
import { homeOf } from '../home.ts';
import type { CommonOptions } from './place-options.ts';

export interface DeskQuestionsOptions extends CommonOptions {
  /** Adds the hook at once. */
  yes?: boolean;
}

export async function deskQuestionsCommand(
  action: 'on' | 'off' | 'status',
  options: DeskQuestionsOptions,
  terminal: Terminal,
): Promise<number> {
  const { stateDir } = homeOf({ home: options.home, profile: options.profile, env: terminal.env });
  const file = settingsFile(terminal.env);
  const command = hookOf(options);
  const show = (isNowOn: boolean, sentence: string) =>
    terminal.out(options.json ? `${JSON.stringify({ on: isNowOn, file, command })}\n` : `${sentence}\n`);
  try {
    const wasOn = isOn(file, command);
    if (action === 'status') {
      show(wasOn, wasOn ? `On: ${file} runs\n  ${command}` : 'Off. Turn it on with "relay-daemon desk-questions on".');
    } else if (action === 'off') {
      turnOff(file, command, stateDir);
      show(false, wasOn ? `Off: removed from ${file}.` : 'Off.');
    } else if (wasOn) {
      show(true, `On already: ${file}`);
    } else {
      if (doorAddress(stateDir) === undefined)
        throw new Failure(
          'NOT_POSSIBLE_HERE',
          process.platform === 'win32'
            ? 'Questions of terminals cannot be asked in apps on Windows.'
            : `The folder ${stateDir} has a path that is too long for a socket. Choose another one with --home.`,
        );
      if (!(await isWanted(file, command, options, terminal))) return exitCodes.failed;
      makePrivateFolder(stateDir);
      turnOn(file, command, stateDir);
      show(true, `On: terminals of Claude Code that start from now on ask in your apps as well.`);
    }
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('SETTINGS_NOT_CHANGED', `${file} was not changed: ${reasonOf(error)}`);
  }
}

/** Shows the change, and asks whether to make it. */
async function isWanted(
  file: string,
  command: string,
  { yes = false }: DeskQuestionsOptions,
  terminal: Terminal,
): Promise<boolean> {
  if (yes) return true;
  const entry = JSON.stringify(entryFor(command), undefined, 2).replaceAll('\n', '\n    ');
  terminal.err(
    `This adds to "hooks", "PermissionRequest" in ${file}:\n\n    ${entry}\n\n` +
      'Your apps can then allow commands in terminals of Claude Code on this machine.\n',
  );
  if (!terminal.inIsScreen)
    throw new Failure('ANSWER_NEEDED', 'To add it without a question, use --yes.', exitCodes.usage);
  return /^y(es)?$/i.test((await terminal.ask('Add it? [y/N] '))?.trim() ?? '');
}

/** The command of the hook, for a POSIX shell: this program, with the same home and profile. */
export function hookOf({ home, profile }: CommonOptions): string {
  const program = programFile.startsWith('--') ? [process.execPath] : [process.execPath, programFile];
  const where = [
    ...(home === undefined ? [] : ['--home', home]),
    ...(profile === undefined ? [] : ['--profile', profile]),
  ];
  return [...program, 'hook', 'claude', ...where].map(quoted).join(' ');
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
