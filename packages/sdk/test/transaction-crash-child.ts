/**
 * Commits a transaction, or runs an atomic batch, and is killed right before the system call with the given number;
 * prints how many there were when it survives. Started by transaction-crash.deep.test.ts.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { loadNativeCalls } from '../src/platform/descriptors/native-calls.ts';
import { createRuntime } from '../src/runtime.ts';
import { CRASH_EDITS } from './transaction-crash-edits.ts';

const [workspace = '', state = '', killAt = '', text = '', how = ''] = process.argv.slice(2);
const registry = { file: 'registry.yaml', text };
const runtime = await createRuntime({ workspace, state, registry });
const session = await runtime.openSession({ actor: 'crash' });

async function done(tool: string, args: Record<string, unknown>, options = {}): Promise<void> {
  const answer = await session.call(tool as string, args, options);
  if (!answer.ok) throw new Error(`${tool}: ${JSON.stringify(answer.errors)}`);
}

if (how !== 'batch') {
  await done('tx_begin', {});
  for (const { tool, args } of CRASH_EDITS) await done(tool, args);
}

let calls = 0;
function count(): void {
  if (calls++ === Number(killAt)) process.kill(process.pid, 'SIGKILL');
}

// Everything that can change a file, by name or through the native calls.
const COUNTED = ['openSync', 'writeSync', 'renameSync', 'linkSync', 'unlinkSync', 'mkdirSync', 'rmdirSync', 'rmSync'];
const MORE = ['symlinkSync', 'chmodSync', 'fchmodSync', 'closeSync', 'appendFileSync', 'writeFileSync'];
const SYNCS = ['fsyncSync', 'fdatasyncSync'];
const patched = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
for (const name of [...COUNTED, ...MORE, ...SYNCS]) {
  const original = patched[name];
  if (original === undefined) continue;
  patched[name] = (...args) => {
    count();
    return original(...args);
  };
}
syncBuiltinESMExports();
const native = loadNativeCalls() as unknown as Record<string, (...args: unknown[]) => unknown>;
for (const name of ['rename', 'linkFile']) {
  const original = native[name];
  if (typeof original !== 'function') continue;
  try {
    native[name] = (...args: unknown[]) => {
      count();
      return original(...args);
    };
  } catch {
    // Frozen: the calls before and after it are counted.
  }
}
if (how === 'batch') {
  const answers = await session.batch(CRASH_EDITS, { atomic: true });
  if (!answers.every(({ ok }) => ok)) throw new Error(JSON.stringify(answers));
} else await done('tx_commit', {}, { idempotencyKey: 'only-once' });
process.stdout.write(String(calls));
process.exit(0);
