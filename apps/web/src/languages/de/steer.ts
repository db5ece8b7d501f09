/** German texts: messages sent while the agent works. */
import type { words as en } from '../en/steer.ts';

export const words: typeof en = {
  steer: {
    now: 'Jetzt senden',
    queue: 'Einreihen',
    hintQueue: 'einreihen',
    hintNow: 'jetzt senden',
    hint: (agent: string) => `„Jetzt senden“ erreicht ${agent || 'den Agenten'}, während er arbeitet`,
    sending: 'Wird jetzt gesendet …',
    sent: 'Während der Arbeit gesendet',
    next: 'Er war schon fertig, deshalb kam das als Nächstes.',
    dropped: (agent: string) => `${agent || 'Der Agent'} war fertig, bevor er das las.`,
    sendIt: 'Senden',
    refused: (agent: string) => `${agent || 'Der Agent'} kann es jetzt nicht annehmen. Es ist eingereiht.`,
    chip: (text: string) => `„${text}“ jetzt senden`,
    stopThenSend: 'Anhalten, dann das senden',
  },
};
