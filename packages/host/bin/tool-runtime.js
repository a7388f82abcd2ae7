#!/usr/bin/env node
// Plain JavaScript on purpose: it must run on any Node to say clearly when that Node is too old.
import { createRequire, enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const [major, minor] = process.versions.node.split('.').map(Number);
const supported = (major === 22 && minor >= 19) || major === 24 || major >= 26;

if (!supported) {
  process.stderr.write(
    `tool-runtime needs Node 22.19, 24 or 26 and later; this is Node ${process.versions.node}\n` +
      'Install a supported version, for example with: npm install node@24\n',
  );
  process.exitCode = 2;
} else if (process.argv.length === 3 && ['--version', '-V'].includes(process.argv[2])) {
  process.stdout.write(`${require('../package.json').version}\n`);
} else {
  // Not the default in the temporary folder, which other users of the machine may have made first: this is code.
  enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tool-runtime'));
  const { main } = await import('../dist/cli/main.js');
  process.exitCode = await main(process.argv.slice(2));
}
