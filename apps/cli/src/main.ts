#!/usr/bin/env node
/** The program `relay`. */
import { runCli } from './cli.ts';
import { processTerminal } from './terminal.ts';

process.exitCode = await runCli(process.argv.slice(2), processTerminal());
// Standard input that stays open, or a kept connection, must not keep a finished command alive. Its output must: pipes are written
// as fast as they are read.
process.stdin.unref?.();
// eslint-disable-next-line no-restricted-syntax -- no text: it waits behind the output
process.stdout.write('', () => setTimeout(() => process.exit(), 1000).unref());
