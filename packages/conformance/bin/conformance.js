#!/usr/bin/env node
// Plain JavaScript, so that it loads on any Node and can say when that one is too old.
import { createRequire } from 'node:module';

const [major, minor] = process.versions.node.split('.').map(Number);
if ((major === 22 && minor >= 19) || major === 24 || major >= 26) {
  const { main } = await import('../dist/index.js');
  const { version } = createRequire(import.meta.url)('../package.json');
  process.exitCode = await main(process.argv.slice(2), version);
} else {
  process.stderr.write(`This program needs Node 22.19, 24 or 26 and later; this is Node ${process.versions.node}\n`);
  process.exitCode = 2;
}
