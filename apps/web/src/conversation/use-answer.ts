/** An answer that is given outside of the session of its question. It arrives once. */
import type { Prompt } from '@relay/protocol';
import { useRooms } from '../rooms.ts';
import { type Action, useAction } from '../ui/action.ts';
import { useSendingKey } from '../ui/sending.ts';
import type { Option } from './prompt.ts';

export function useAnswer(sessionId: string | undefined, prompt: Prompt | undefined): Action<[Option]> {
  const { client } = useRooms();
  const key = useSendingKey();
  return useAction(async ({ id: option }: Option) => {
    if (sessionId === undefined || prompt?.id === undefined || option === undefined) return;
    await client.call('answerPrompt', {
      params: { id: sessionId, uuid: prompt.id },
      body: { option, ...(prompt.digest === undefined ? {} : { digest: prompt.digest }) },
      idempotencyKey: key.of(`${prompt.id} ${option}`),
    });
    key.done();
  });
}
