/**
 * Kinds of field daemons with their observed habits (`Habits`), including every habit that hides an outcome from the
 * relay.
 */
import type { Habits } from '@relay/testing';

export const fieldKinds: Readonly<Record<string, Habits>> = {
  'as specified': {},
  'says status once, with what ended while it was away': { statusOnce: true, hidesItsSessions: true },
  'only adds to its status, and never calls a session active': {
    ...{ growingStatus: true, hidesItsSessions: true, neverActive: true },
  },
  'says each text, and has one page of history': {
    ...{ growingStatus: true, hidesItsSessions: true, textPerEvent: true, ignoresCursors: true },
  },
  'ends without a text, and asks in the context': { emptyResult: true, statusOnce: true, questionInContext: true },
  'says each text, and ends with a newline more': { newlineResult: true, textPerEvent: true },
  'says status after a connect only, and counts to one': { quietStatus: true, neverActive: true, constantCount: true },
  'only adds to its status, and ends without a text': {
    ...{ growingStatus: true, hidesItsSessions: true, emptyResult: true, constantCount: true },
  },
  'never names its sessions': { neverNames: true, questionInContext: true, commandSets: true },
  'cannot be asked for its history': { noHistory: true, quietStatus: true },
};
