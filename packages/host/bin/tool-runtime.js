#!/usr/bin/env node
// Plain JavaScript on purpose, and careful with imports: it must load on any Node to say clearly when that one is too old.
import * as nodeModule from 'node:module';

// Importing modules of Node's own would load more of them than requiring them does.
const require = nodeModule.createRequire(import.meta.url);
const { dirname, join } = require('node:path');
const [major, minor] = process.versions.node.split('.').map(Number);
/** Commands that answer calls for long. */
const SERVERS = new Set(['mcp', 'serve', 'stdio']);
const supported = (major === 22 && minor >= 19) || major === 24 || major >= 26;

if (!supported) {
  process.exitCode = runOnInstalledNode() ?? refuse();
} else if (process.argv.length === 3 && ['--version', '-V'].includes(process.argv[2])) {
  process.stdout.write(`${require('../package.json').version}\n`);
} else {
  hideSqliteWarning();
  const isServer = SERVERS.has(process.argv[2]);
  // Before the caches are opened: code that was cached under other flags of V8 is not used.
  if (isServer) tuneForCalls();
  // Not the default in the temporary folder, which other users of the machine may have made first: this is code.
  nodeModule.enableCompileCache(
    join(process.env.XDG_CACHE_HOME || join(require('node:os').homedir(), '.cache'), 'tool-runtime'),
  );
  if (isServer) keepCompiledSoon();
  const { main } = await import('../dist/command/main.js');
  leave(await main(process.argv.slice(2)));
}

/** Everything is done and written: an end by itself would first wait for what the compiler still does in the background. */
function leave(code) {
  nodeModule.flushCompileCache?.();
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

/** Clients end servers by killing them, too, which leaves no time to keep what was compiled at the start. */
function keepCompiledSoon() {
  setTimeout(() => nodeModule.flushCompileCache?.(), 1000).unref();
}

/** What V8 expects of a program is not what a server does that answers calls. */
function tuneForCalls() {
  const { setFlagsFromString } = require('node:v8');
  // V8 watches where objects come from that live long, and then makes objects from there among the old ones right away. What a
  // call makes lives until its answer, so V8 is often wrong about it: such objects, and all they refer to, stay until the next
  // full collection. In a read over MCP that was an eighth of all memory that calls touch. Measured with and without: 12 %
  // less CPU per call, and a heap that stays at its size between full collections.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // After 8 s without work V8 gives memory back, and with it forgets the shapes of all objects that calls make, because there
  // are none just then. Code that was compiled for them goes too: reads over MCP then took 0.3 instead of 0.09 ms, and were as
  // fast as before only thousands of calls later. Clients often think for longer than 8 s.
  setFlagsFromString('--gc-memory-reducer-start-delay-ms=120000');
}

/** Node 22 calls its SQLite experimental at every start; the journal's tests decide whether it works. */
function hideSqliteWarning() {
  const emit = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith('SQLite is an experimental')) emit.call(process, warning, ...rest);
  };
}

/** A checkout of the project has a fitting Node as the package `node`; undefined where there is none. */
function runOnInstalledNode() {
  let node;
  try {
    node = join(dirname(require.resolve('node/package.json')), 'bin', 'node');
  } catch {
    return undefined;
  }
  // Loaded here: it takes longer than all the rest of this file.
  const { spawnSync } = require('node:child_process');
  const { fileURLToPath } = require('node:url');
  const run = spawnSync(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  return run.error === undefined ? (run.status ?? 1) : undefined;
}

function refuse() {
  process.stderr.write(
    `tool-runtime needs Node 22.19, 24 or 26 and later; this is Node ${process.versions.node}\n` +
      'Install a supported version, for example with: npm install node@24\n',
  );
  return 2;
}
