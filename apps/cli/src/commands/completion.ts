/** `relay completion`: a shell script that completes commands and options, generated from the commands. */
import type { Command } from 'commander';
import { usage } from '../failure.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

interface Entry {
  /** The command path, without `relay`. */
  path: string;
  commands: readonly { name: string; description: string }[];
  options: readonly { flag: string; description: string; takesValue: boolean }[];
}

function entriesOf(command: Command, path: readonly string[] = []): Entry[] {
  const commands = command.commands.map((one) => ({ name: one.name(), description: one.description() }));
  const options = [
    ...command.options.flatMap(({ long, description, required, optional }) =>
      long ? [{ flag: long, description, takesValue: required || optional }] : [],
    ),
    { flag: '--help', description: 'display help', takesValue: false },
  ];
  const own: Entry = { path: path.join(' '), commands, options };
  return [own, ...command.commands.flatMap((one) => entriesOf(one, [...path, one.name()]))];
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The script resolves the command before the cursor. After an option that takes a value, it completes file names. */
function bash(entries: readonly Entry[]): string {
  const words = ({ commands, options }: Entry) =>
    [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag)].join(' ');
  const valued = [...new Set(entries.flatMap(({ options }) => options.filter((one) => one.takesValue)))];
  return `# bash: relay completion bash > ~/.local/share/bash-completion/completions/relay
_relay() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path= word
  COMPREPLY=()
  case $prev in
    ${[...new Set(valued.map(({ flag }) => flag))].join('|')}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${entries
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      ${quoted(path.includes(' ') ? path : ` ${path}`)}) path=${quoted(path)} ;;`)
  .join('\n')}
    esac
  done
  case $path in
${entries.map((entry) => `    ${quoted(entry.path)}) COMPREPLY=($(compgen -W ${quoted(words(entry))} -- "$cur")) ;;`).join('\n')}
  esac
}
complete -o default -F _relay relay
`;
}

function zsh(entries: readonly Entry[]): string {
  const described = (name: string, description: string) => quoted(`${name.replaceAll(':', '\\:')}:${description}`);
  const all = ({ commands, options }: Entry) =>
    [
      ...commands.map(({ name, description }) => described(name, description)),
      ...options.map(({ flag, description }) => described(flag, description)),
    ].join(' ');
  return `#compdef relay
# zsh: relay completion zsh > "\${fpath[1]}/_relay"
_relay() {
  local place= word
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
${entries
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      ${quoted(path.includes(' ') ? path : ` ${path}`)}) place=${quoted(path)} ;;`)
  .join('\n')}
    esac
  done
  case $place in
${entries.map((entry) => `    ${quoted(entry.path)}) choices=(${all(entry)}) ;;`).join('\n')}
  esac
  _describe relay choices || _files
}
if [ "$funcstack[1]" = _relay ]; then _relay "$@"; else compdef _relay relay; fi
`;
}

function fish(entries: readonly Entry[]): string {
  const top = entries[0]!.commands.map(({ name }) => name).join(' ');
  const lines = entries.flatMap(({ path, commands, options }) => {
    const [first, second] = path.split(' ');
    const seen = first ? `__fish_seen_subcommand_from ${first}` : `not __fish_seen_subcommand_from ${top}`;
    const inner = commands.map(({ name }) => name).join(' ');
    const alone = inner === '' || !first ? seen : `${seen}; and not __fish_seen_subcommand_from ${inner}`;
    const when = quoted(second ? `${seen}; and __fish_seen_subcommand_from ${second}` : alone);
    return [
      ...commands.map(
        ({ name, description }) => `complete -c relay -f -n ${when} -a ${name} -d ${quoted(description)}`,
      ),
      ...options.map(
        ({ flag, description, takesValue }) =>
          `complete -c relay -n ${when} -l ${flag.slice(2)}${takesValue ? ' -r' : ''} -d ${quoted(description)}`,
      ),
    ];
  });
  return `# fish: relay completion fish > ~/.config/fish/completions/relay.fish\n${lines.join('\n')}\n`;
}

const scripts: Readonly<Record<string, (entries: readonly Entry[]) => string>> = { bash, zsh, fish };

/** @throws Failure BAD_USAGE if the shell is unknown */
export function completionOf(program: Command, shell: string): string {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (!script) throw usage(`There is no completion for "${shell}"; there is one for ${shells.join(', ')}.`);
  return script(entriesOf(program));
}
