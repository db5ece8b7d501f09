#!/usr/bin/env node
/** The program `relay-daemon`. */
import { runProgram } from '@relay/machine';
import { runCli } from './cli.ts';

await runProgram(runCli);
