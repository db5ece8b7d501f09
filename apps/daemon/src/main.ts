#!/usr/bin/env node
/** The program `relay-daemon`. */
import { runCli } from './cli.ts';
import { processTerminal } from './commands/terminal.ts';

process.exitCode = await runCli(process.argv.slice(2), processTerminal());
// An open connection pool must not keep a finished command alive. Its output must: a pipe drains only as fast as its
// reader reads.
// eslint-disable-next-line no-restricted-syntax -- no text: it waits until the output is flushed
process.stdout.write('', () => setTimeout(() => process.exit(), 1000).unref());
