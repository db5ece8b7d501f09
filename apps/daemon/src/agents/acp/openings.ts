/** The opening of a conversation at its agent, new or again, with the mode and the settings that it is to have. */
import {
  type Fields,
  type Opened,
  type Opening,
  type Turn,
  SettingNotApplied,
  silentLog,
  unusableId,
  wordsOf,
} from '@relay/daemon-kit';
import { reasonOf } from '@relay/machine';
import { isNativeId } from '@relay/protocol';
import { projectFolder } from '../project.ts';
import type { Conversation } from './conversation.ts';
import { leaveDanger } from './leave-danger.ts';
import type { AcpOptions, AcpTimings } from './options.ts';
import type { ProcessPool } from './pool.ts';
import { type AgentProcess, AgentFailure, errorCodes } from './process.ts';
import type { Settings } from './settings.ts';

interface Openings {
  /** The folder of a project, as far as the rules allow it. @throws AgentFailure */
  folderOf: (path: string) => string;
  /** A new conversation. Rejects with an AgentFailure. */
  open: (opening: Opening) => Promise<Opened>;
  /** Reopens an earlier session: resume, else load, else an AgentFailure with advice. */
  reopen: (
    turn: Pick<Turn, 'sessionId' | 'projectPath' | 'choices'>,
    onPid: (pid: number) => void,
    signal: AbortSignal,
  ) => Promise<Conversation>;
}

export function createOpenings(
  options: AcpOptions,
  { pool, settings, timings }: { pool: ProcessPool; settings: Settings; timings: AcpTimings },
): Openings {
  const { log = silentLog, quirks = {} } = options;
  /** Earlier sessions whose process is being started. */
  const reopening = new Map<string, Promise<Conversation>>();

  const folderOf = (path: string): string => {
    const project = projectFolder(path, options.rules);
    if ('error' in project) throw new AgentFailure(project.error);
    return project.directory;
  };

  const setMode = async (agent: AgentProcess, sessionId: string) => {
    if (options.mode === undefined) return;
    await agent.request('session/set_mode', { sessionId, modeId: options.mode }, timings.openMs);
    settings.inMode(sessionId, options.mode);
  };

  const open = async (opening: Opening): Promise<Opened> => {
    const { signal } = opening;
    const cwd = folderOf(opening.projectPath);
    return pool.withProcess(
      cwd,
      (pid) => opening.process(pid),
      signal,
      async (started) => {
        const answer = await started.agent.request('session/new', { cwd, mcpServers: [] }, timings.openMs);
        const { sessionId } = answer;
        // Before its first message: the relay would never accept an event of such a session.
        if (typeof sessionId !== 'string' || !isNativeId(sessionId))
          throw new AgentFailure(unusableId(wordsOf(sessionId)));
        settings.opened(sessionId, answer);
        await setMode(started.agent, sessionId);
        if (opening.choices) await settings.restore(started.agent, sessionId, opening.choices);
        await settings.apply(started.agent, sessionId, opening.settings ?? []).catch((error: unknown) => {
          throw new SettingNotApplied(reasonOf(error));
        });
        if (signal.aborted) throw new AgentFailure('The task was cancelled.');
        pool.keep(sessionId, cwd, started);
        return { sessionId, projectPath: cwd };
      },
    );
  };

  const reopen: Openings['reopen'] = async (turn, onPid, signal) => {
    if (quirks.neverReload) {
      throw new AgentFailure('This agent cannot continue a session once its process has ended. Start a new session.');
    }
    const { sessionId } = turn;
    const cwd = folderOf(turn.projectPath);
    return pool.withProcess(cwd, onPid, signal, async (started, can) => {
      const { agent } = started;
      const call = (method: string) =>
        agent.request(method, { sessionId, cwd, mcpServers: [] }, timings.openMs).catch((error: unknown) => {
          throw new AgentFailure(
            `The agent cannot continue this session: ${reasonOf(error)}`,
            error instanceof AgentFailure ? error.code : undefined,
            { cause: error },
          );
        });
      let answer: Fields;
      if (can.resume && !quirks.resumeIsLoad) {
        answer = await call('session/resume').catch((error: unknown) => {
          const code = error instanceof AgentFailure ? error.code : undefined;
          // The agent advertises it, but does not implement it, or not for this session: loading might still work.
          if (!can.load || code === undefined || code === errorCodes.authRequired) throw error;
          log.info('resume failed, loading', { session: sessionId, why: reasonOf(error).slice(0, 200) });
          return call('session/load');
        });
      } else if (can.load) answer = await call('session/load');
      else throw new AgentFailure('This agent cannot continue an earlier session. Start a new one.');
      const hidesDanger = options.askAtDesk !== undefined || options.noFullAccess === true;
      const isKept = hidesDanger && options.mode === undefined;
      settings.opened(
        sessionId,
        isKept ? await leaveDanger({ agent, sessionId, answer }, quirks, timings.openMs) : answer,
      );
      await setMode(agent, sessionId);
      if (turn.choices) await settings.restore(agent, sessionId, turn.choices);
      return pool.keep(sessionId, cwd, started);
    });
  };

  /** A turn and a question about settings can need the same conversation at once: it is opened for both. */
  const reopened: Openings['reopen'] = (turn, onPid, signal) => {
    const { sessionId } = turn;
    const pending = reopening.get(sessionId);
    if (pending) return pending.catch(() => reopened(turn, onPid, signal));
    const conversation = reopen(turn, onPid, signal).finally(() => reopening.delete(sessionId));
    reopening.set(sessionId, conversation);
    return conversation;
  };

  return { folderOf, open, reopen: reopened };
}
