#!/usr/bin/env node
// Linked by npm before anything is built; the program itself is in dist.
import '../dist/bundle.js';
