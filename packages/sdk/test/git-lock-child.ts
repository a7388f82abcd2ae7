/** Commits until it is killed, or kills itself as soon as git makes a lock. Started by git-lock.deep.test.ts. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRuntime } from '../src/runtime.ts';

const [workspace = '', state = '', lock = ''] = process.argv.slice(2);
const runtime = await createRuntime({ workspace, state });
const session = await runtime.openSession({});
let isOver = false;
function watch(): void {
  if (existsSync(join(workspace, '.git', lock))) process.kill(process.pid, 'SIGKILL');
  if (!isOver) setImmediate(watch);
}
process.stdout.write('begins\n');
watch();
for (let round = 0; round < 3; round++) {
  writeFileSync(join(workspace, 'w.txt'), `${process.pid} ${round}\n`);
  for (const [tool, args] of [
    ['git_add', { paths: ['w.txt'] }],
    ['git_commit', { message: 'chore: one more' }],
  ] as const) {
    const { ok, errors } = await session.call(tool, args);
    if (!ok) process.stdout.write(`failed ${tool} ${JSON.stringify(errors)}\n`);
  }
}
isOver = true;
await runtime.close();
