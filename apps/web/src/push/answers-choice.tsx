/** The answers that notifications in this browser offer, chosen by the person. */
import { useState } from 'react';
import type { Subscription } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting } from '../ui/action.ts';
import { Problem } from '../ui/notice.tsx';
import { PasswordAgain, ProvidersAgain, useRecentAction } from '../ui/recent-action.tsx';

const choices = ['none', 'reject', 'all'] as const;

export function AnswersChoice({ subscription }: { subscription: Subscription }) {
  const { client } = useRooms();
  const { id } = subscription;
  const [chosen, setChosen] = useState(subscription.actions);
  const [wanted, setWanted] = useState<Subscription['actions']>('all');
  const choose = useRecentAction(async (actions: Subscription['actions']) => {
    const before = chosen;
    setWanted(actions);
    setChosen(actions);
    try {
      await client.call('changeSubscription', { params: { id }, body: { actions } });
    } catch (error) {
      setChosen(before);
      throw error;
    }
  });
  return (
    <fieldset className="choices">
      <legend>
        <b>{words.here.answers}</b>
      </legend>
      <p className="soft">{words.here.answersMore}</p>
      {choices.map((one) => (
        <label key={one}>
          <input type="radio" name="answers" checked={chosen === one} onChange={() => void choose.run(one)} />
          {words.here.answersOf[one]}
        </label>
      ))}
      {chosen !== 'none' && <p className="soft">{words.here.locked}</p>}
      {choose.again ? (
        <form onSubmit={submitting(() => choose.run(wanted))} method="post" className="stacked">
          <PasswordAgain {...choose} />
          <Problem refusal={choose.refusal} />
          <div className="actions start">
            <button type="submit" aria-disabled={choose.busy}>
              {words.here.answersOf[wanted]}
            </button>
          </div>
        </form>
      ) : (
        <Problem refusal={choose.refusal} />
      )}
      {choose.again && <ProvidersAgain returnTo="/notifications" />}
    </fieldset>
  );
}
