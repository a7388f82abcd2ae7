/**
 * Makes one call that restores files, and is killed right before the system call with the given number; prints how many there
 * were when it survives. Started by restore-crash.deep.test.ts.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createRuntime } from '../src/runtime.ts';

const [workspace = '', state = '', killAt = '', tool = '', args = '{}'] = process.argv.slice(2);
const runtime = await createRuntime({ workspace, state });
const session = await runtime.openSession({});

let calls = 0;
const COUNTED = ['writeSync', 'renameSync', 'linkSync', 'unlinkSync', 'mkdirSync', 'rmdirSync', 'rmSync', 'fchmodSync'];
const patched = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
for (const name of COUNTED) {
  const original = patched[name];
  if (original === undefined) continue;
  patched[name] = (...given) => {
    if (calls++ === Number(killAt)) process.kill(process.pid, 'SIGKILL');
    return original(...given);
  };
}
syncBuiltinESMExports();
const answer = await session.call(tool, JSON.parse(args));
if (!answer.ok) throw new Error(JSON.stringify(answer.errors));
process.stdout.write(String(calls));
process.exit(0);
