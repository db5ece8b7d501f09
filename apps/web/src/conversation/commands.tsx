/** The slash commands of the agent: offered while a message begins with a slash. */
import { useEffect, useState } from 'react';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { type SlashCommand, fitting } from './fitting-commands.ts';

interface CommandsProps {
  sessionId: string;
  /** The text typed so far. */
  text: string;
  onChoose: (text: string) => void;
}

export function Commands({ sessionId, text, onChoose }: CommandsProps) {
  const { client } = useRooms();
  const [known, setKnown] = useState<readonly SlashCommand[]>([]);
  const isWanted = text.startsWith('/');
  useEffect(() => {
    if (!isWanted) return undefined;
    let isCurrent = true;
    client.call('listCommands', { params: { id: sessionId } }).then(
      ({ commands }) => isCurrent && setKnown(commands),
      // A command can be typed without the list.
      () => undefined,
    );
    return () => void (isCurrent = false);
  }, [client, sessionId, isWanted]);
  const shown = fitting(known, text);
  if (shown.length === 0) return null;
  return (
    <div role="group" aria-label={words.dock.commandsTitle} className="pop">
      {shown.map(({ name, description, inputHint }) => (
        <button key={name} type="button" onClick={() => onChoose(`/${name} `)}>
          <b>/{name}</b>
          <span className="cut">{[description, inputHint].filter(Boolean).join(' – ')}</span>
        </button>
      ))}
    </div>
  );
}
