/**
 * The slash commands: offered while a message begins with a slash. Arrow keys and Enter choose one in the field. `/diff` is a command of this
 * page, unless the agent has one of that name.
 */
import { type RefObject, useEffect, useId, useState } from 'react';
import type { CommandList } from '@relay/protocol';
import { useLocation } from 'wouter';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { changesPath } from '../ui/address.ts';
import { isComposing } from '../ui/composing.ts';

interface CommandsProps {
  sessionId: string;
  /** The text typed so far. */
  text: string;
  field: RefObject<HTMLTextAreaElement | null>;
  onChoose: (text: string) => void;
}

type SlashCommand = CommandList['commands'][number];

const maxShown = 8;
const diff = 'diff';

/** Commands that begin with the typed text; empty once the name is complete and more text follows it. */
export function fitting(commands: readonly SlashCommand[], text: string): SlashCommand[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  return commands.filter(({ name }) => name.toLowerCase().startsWith(typed)).slice(0, maxShown);
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

export default function Commands({ sessionId, text, field, onChoose }: CommandsProps) {
  const { client } = useRooms();
  /** Undefined until the relay has answered. */
  const [commands, setCommands] = useState<readonly SlashCommand[]>();
  /** The choice by arrow keys while this text stands; else the first one is chosen. */
  const [active, setActive] = useState({ text, at: 0 });
  /** The text that the field had when the list was closed. */
  const [closed, setClosed] = useState<string>();
  const id = useId();
  useEffect(() => {
    let isCurrent = true;
    client.call('listCommands', { params: { id: sessionId } }).then(
      ({ commands }) => isCurrent && setCommands(commands),
      // A command can be typed without the list.
      () => isCurrent && setCommands([]),
    );
    return () => void (isCurrent = false);
  }, [client, sessionId]);
  const [, navigate] = useLocation();
  const hasDiff = commands?.some(({ name }) => name === diff) ?? true;
  const isOwn = ({ name }: SlashCommand) => name === diff && !hasDiff;
  const all = [...(commands ?? []), ...(hasDiff ? [] : [{ name: diff, description: words.dock.diffCommand }])];
  const shown = closed === text ? [] : fitting(all, text);
  const at = active.text === text ? Math.min(active.at, shown.length - 1) : 0;
  const choose = (command: SlashCommand) => {
    setActive({ text: '', at: 0 });
    onChoose(isOwn(command) ? '' : `/${command.name} `);
    if (isOwn(command)) navigate(changesPath(sessionId));
  };
  useEffect(() => {
    const { current: box } = field;
    const chosen = shown[at];
    if (!box || !chosen) return undefined;
    box.setAttribute('aria-controls', id);
    box.setAttribute('aria-activedescendant', `${id}-${at}`);
    // Runs before the composer's own handler of the key.
    const onKey = (event: KeyboardEvent) => {
      const step = steps[event.key];
      if (isComposing(event)) return;
      if (step !== undefined) setActive({ text, at: (at + step + shown.length) % shown.length });
      else if (event.key === 'Escape') setClosed(text);
      else if (event.key === 'Enter' && !event.shiftKey && (isOwn(chosen) || text !== `/${chosen.name}`))
        choose(chosen);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    box.addEventListener('keydown', onKey);
    return () => {
      box.removeEventListener('keydown', onKey);
      box.removeAttribute('aria-controls');
      box.removeAttribute('aria-activedescendant');
    };
  });
  if (shown.length === 0) return null;
  return (
    <div role="listbox" aria-label={words.dock.commandsTitle} className="pop" id={id}>
      {shown.map((command, index) => (
        <button
          key={command.name}
          type="button"
          role="option"
          id={`${id}-${index}`}
          aria-selected={index === at}
          tabIndex={-1}
          onClick={() => choose(command)}
        >
          <b>/{command.name}</b>
          <span className="cut">{[command.description, command.inputHint].filter(Boolean).join(' – ')}</span>
        </button>
      ))}
    </div>
  );
}
