/** Plays a JSON conversation: for tests, demonstrations, and for trying a relay without any agent. */
import { type Clock, pause, systemClock } from '../clock.ts';
import type { Agent, Turn, TurnReport } from '../agent.ts';
import { fill } from './placeholders.ts';
import type { Script, Step } from './script.ts';

/** Where a conversation stands. */
interface Place {
  /** Turns without `match` played so far. */
  played: number;
  /** Steps after a question, to run when the answer arrives. */
  rest: Step[];
}

/** Conversations whose place is remembered; a forgotten one starts over. */
const maxPlaces = 1000;

export function scriptedAgent(script: Script, clock: Clock = systemClock): Agent {
  const places = new Map<string, Place>();

  const placeOf = (sessionId: string): Place => {
    const place = places.get(sessionId) ?? { played: 0, rest: [] };
    places.delete(sessionId);
    places.set(sessionId, place);
    const [oldest] = places.keys();
    if (places.size > maxPlaces && oldest !== undefined) places.delete(oldest);
    return place;
  };

  const stepsFor = (place: Place, message: string): Step[] => {
    if (place.rest.length > 0) return place.rest.splice(0);
    const matching = script.turns.find(({ match }) => match?.test(message));
    if (matching) return [...matching.steps];
    const sequence = script.turns.filter(({ match }) => match === undefined);
    return [...(sequence[place.played++ % sequence.length]?.steps ?? [])];
  };

  return {
    start(turn, report) {
      const cancelled = new AbortController();
      const place = placeOf(turn.sessionId);
      const ended = play(stepsFor(place, turn.message), { turn, report, place, clock, signal: cancelled.signal });
      return {
        ended,
        async cancel() {
          cancelled.abort();
          await ended.catch(() => undefined);
        },
      };
    },
  };
}

interface Stage {
  turn: Turn;
  report: TurnReport;
  place: Place;
  clock: Clock;
  signal: AbortSignal;
}

async function play(steps: Step[], { turn, report, place, clock, signal }: Stage): Promise<void> {
  const filled = (text: string) =>
    fill(text, { message: turn.message, session: turn.sessionId, task: turn.taskId, project: turn.projectPath });
  const texts: string[] = [];
  if (steps.length === 0) return report.error('The script has no turn for this message.');
  for (const [index, step] of steps.entries()) {
    if (signal.aborted) return;
    switch (step.type) {
      case 'progress':
        report.progress(filled(step.action), filled(step.target ?? ''));
        break;
      case 'output':
        report.output(filled(step.output));
        break;
      case 'say':
        texts.push(filled(step.text));
        break;
      case 'delay':
        await pause(clock, step.ms, signal);
        break;
      case 'complete':
        return report.complete(step.text === undefined ? texts.join('\n\n') : filled(step.text));
      case 'wait':
        place.rest = steps.slice(index + 1);
        return report.wait({
          prompt: filled(step.prompt),
          result: step.result === undefined ? texts.join('\n\n') : filled(step.result),
          options: (step.options ?? []).map(filled),
        });
      case 'error':
        return report.error(filled(step.error));
      case 'crash':
        throw new Error('the scripted agent crashed, as its script says');
      case 'hang':
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        return;
    }
  }
  if (texts.length > 0 && !signal.aborted) report.complete(texts.join('\n\n'));
}
