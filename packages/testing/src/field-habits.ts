/** How daemons of the field differ from the specification. */

/** Each was seen in the field; absent means the behaviour of the specification. */
export interface Habits {
  /** `running_tasks` only grows. */
  growingStatus?: boolean;
  /** One `status` per connection, which still lists what ended while it was away; none on changes. */
  statusOnce?: boolean;
  /** `running_tasks` is always empty. */
  emptyStatus?: boolean;
  /** `status` after a connect only, and true. */
  quietStatus?: boolean;
  /** Every turn ends with `result: ""`. */
  emptyResult?: boolean;
  /** A result ends with a newline that the history lacks. */
  newlineResult?: boolean;
  /** Each text of a turn is an AGENT_RESPONSE, and all of them joined are the result. */
  spokenTurns?: boolean;
  /** WAIT_FOR_USER has the question in `context`, and neither `result` nor options. */
  questionInContext?: boolean;
  /** Reports say `is_active: false` of everything. */
  neverActive?: boolean;
  /** Every report and activity says `message_count: 1`. */
  constantCount?: boolean;
  /** `get_messages` answers the newest page whatever cursor it has, with `has_more: true`. */
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
