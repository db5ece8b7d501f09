/** The questions of a connection to its daemon that are under way. The gateway answers them when the connection closes. */
import type { Command, FromDaemon, Reply } from '@relay/protocol';
import type { Answer as Said } from './answer.ts';
import type { EarlierPage } from './pages.ts';
import { BoundedMap, SparseMap } from './sparse-map.ts';

/** The frames that answer a question. */
export type Answer = FromDaemon<
  | 'messages'
  | 'usage_response'
  | 'spending_response'
  | 'settings_response'
  | 'agent_settings_response'
  | 'content_response'
  | 'folders'
  | 'search_response'
  | 'changes'
  | 'diff'
  | 'files'
  | 'file'
  | 'pong'
  | 'context_response'
  | 'force_quit_result'
  | 'desk_response'
  | 'file_result'
>;

/** One task whose outcome the gateway searches in the history. */
export interface Inquiry {
  readonly taskId: string;
  /** The last event of the task when the inquiry began: a later one is a sign of life. */
  readonly lastEventAtMs: number | undefined;
  /** The daemon itself no longer knows the task: without an answer this is done. */
  readonly otherwise: (() => Promise<void>) | undefined;
  /** Pages that came. */
  looks: number;
  before: Said | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** The questions that a daemon answers with a frame. */
export type Question = Extract<
  Command,
  {
    kind:
      | 'history'
      | 'ask_context'
      | 'ask_settings'
      | 'ask_agent_settings'
      | 'ask_content'
      | 'ask_folders'
      | 'ask_search'
      | 'ask_files'
      | 'ask_pong'
      | 'ask_spending'
      | 'ask_summary'
      | 'release'
      | 'ask_desk'
      | 'send_file'
      | 'send_piece';
  }
>;

interface DaemonRequest {
  /** The frame that answers it. */
  answer: Answer['type'];
  /** Identical questions share one frame. */
  question: Question;
  /** Each is sent once. */
  waiters: ((reply: Reply, rest?: string) => void)[];
  timer: NodeJS.Timeout;
}

export class Requests {
  readonly inFlight = new SparseMap<string, DaemonRequest>();
  /** The newest page of history by native id. */
  readonly pages = new BoundedMap<string, EarlierPage>(100);
  /** Tasks whose outcome the gateway searches in the history. */
  readonly inquiries = new SparseMap<string, Inquiry>();
  /** Unconfirmed tasks that the gateway searches in the history. */
  readonly doubted = new SparseMap<string, true>();

  /** The connection closed. */
  clear(): void {
    for (const request of this.inFlight.values()) clearTimeout(request.timer);
    for (const inquiry of this.inquiries.values()) clearTimeout(inquiry.timer);
    this.inFlight.clear();
    this.inquiries.clear();
  }
}
