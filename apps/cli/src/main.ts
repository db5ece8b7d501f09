#!/usr/bin/env node
/** The program `relay`. */
import { complain, runCli } from './cli.ts';
import { Failure } from './failure.ts';
import { afterOutput, processTerminal } from './terminal.ts';

const words = process.argv.slice(2);
const terminal = processTerminal(({ message }) =>
  complain(words, terminal, new Failure('OUTPUT', `The output cannot be written: ${message}.`)),
);
process.exitCode = await runCli(words, terminal);
// An open standard input or a kept connection must not keep a finished command alive. Pending output must: a slow reader delays the
// writes to a pipe.
process.stdin.unref?.();
afterOutput(() => setTimeout(() => process.exit(), 1000).unref());
