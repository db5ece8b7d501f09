/**
 * Mail as it travels in the channel of an instance, and back. Kinds: `c` command, `k` ACK, `j` NACK, `r` reply, `s` reply that is
 * kept under a key, `x` abandoned, `e` evicted, `p` probe, `t` control; `f`, `F`, `h`, `H`, `g`, `i` are about users.
 */
import type { Command } from '../backplane.ts';
import type { Mail } from '../mail.ts';
import { type Part, part, record } from './records.ts';

/** A command without what the script adds in front: the fence and the deadline. */
export function commandPart(id: string, from: string, command: Omit<Command, 'fence'>): Part {
  return part(id, from, command.device, command.correlation ?? '', command.body);
}

/** Mail that needs nothing from a script. */
export function mailText(mail: Exclude<Mail, { kind: 'command' | 'evicted' }>): string {
  if (mail.kind === 'ack') return record(mail.ok ? 'k' : 'j', mail.id);
  if (mail.kind === 'abandoned') return record('x', mail.correlation);
  return record('r', mail.correlation, mail.body);
}

/** Undefined: not mail, or of a kind that this version does not know. */
export function readMail(kind: string, fields: readonly string[], instance: string): Mail | undefined {
  const [first = '', second = '', third = '', from = '', device = '', correlation = '', body = ''] = fields;
  switch (kind) {
    case 'c': {
      const command = { device, fence: Number(first), body };
      const asked = correlation === '' ? command : { ...command, correlation, replyTo: from };
      return { kind: 'command', id: third, from, deadline: Number(second), command: asked };
    }
    case 'k':
    case 'j':
      return { kind: 'ack', id: first, ok: kind === 'k' };
    case 'r':
      return { kind: 'reply', correlation: first, body: second };
    case 'x':
      return { kind: 'abandoned', correlation: first };
    case 'e':
      return { kind: 'evicted', lease: { device: second, connection: third, fence: Number(first), instance } };
    default:
      return undefined;
  }
}
