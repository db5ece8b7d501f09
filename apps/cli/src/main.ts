#!/usr/bin/env node
/** The program `relay`. */
import { runProgram } from '@relay/machine';
import { onLostOutput, runCli } from './cli.ts';

await runProgram(runCli, onLostOutput);
