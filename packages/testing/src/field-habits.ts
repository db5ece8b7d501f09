/** How daemons of the field differ from the specification. */

/** Each was seen in the field; absent means the behaviour of the specification. */
export interface Habits {
  /** `running_tasks` only grows. */
  growingStatus?: boolean;
  /** One `status` per connection, which still lists tasks that completed during its absence; sends none on changes. */
  statusOnce?: boolean;
  /** `running_tasks` is always empty. */
  emptyStatus?: boolean;
  /** `status` after a connect only, and true. */
  quietStatus?: boolean;
  /** Every turn completes with `result: ""`. */
  emptyResult?: boolean;
  /** Its results have a trailing newline that the history lacks. */
  newlineResult?: boolean;
  /** Each text of a turn is an AGENT_RESPONSE, and all of them joined are the result. */
  textPerEvent?: boolean;
  /** WAIT_FOR_USER has the question in `context`, and neither `result` nor options. */
  questionInContext?: boolean;
  /** Reports send `is_active: false` for every session. */
  neverActive?: boolean;
  /** Every report and activity sends `message_count: 1`. */
  constantCount?: boolean;
  /** `get_messages` answers the newest page for every cursor, with `has_more: true`. */
  ignoresCursors?: boolean;
  /** 426 is an error like any other: it connects again. */
  ignores426?: boolean;
  /** Slash commands by project: `{sets: [{project, commands}]}`. */
  commandSets?: boolean;
  /** `report_sessions` leaves out the sessions that the relay started. */
  hidesItsSessions?: boolean;
  /** Its events carry no session id, and there is no SESSION_STARTED. */
  neverNames?: boolean;
  /** It has nothing to answer `get_messages` from, and is silent. */
  noHistory?: boolean;
}
