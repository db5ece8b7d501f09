#!/usr/bin/env node
/** `relay-admin`: accounts and backups, from the machine that runs the relay (administer.ts). */
import { loadPrograms } from './bundle.ts';

await loadPrograms().administer();
