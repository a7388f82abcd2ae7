/**
 * Writes, copies and removes in deep folders until it is killed, or kills itself in the middle. Started by
 * unfinished-writes.deep.test.ts.
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { isTemporaryName } from '../src/contracts/path-text.ts';
import { createRuntime } from '../src/runtime.ts';

const [workspace = '', state = '', backend = 'auto', until = ''] = process.argv.slice(2);
// Large enough that a write can be seen while it goes on.
const registry = { file: 'large.yaml', text: 'version: 1\nlimits: { max_request_bytes: 67108864 }\n' };
const ports = { pathBackend: backend as 'auto' | 'walk' };
const runtime = await createRuntime({ workspace, state, registry, ports });
const session = await runtime.openSession({});
function watch(): void {
  const names = readdirSync(workspace, { recursive: true, encoding: 'utf8' });
  if (names.some((path) => isTemporaryName(basename(path)))) process.kill(process.pid, 'SIGKILL');
  setImmediate(watch);
}

const content = 'x'.repeat(20_000_000);
process.stdout.write('begins\n');
if (until === 'seen') watch();

for (let round = 0; ; round++) {
  const folder = `deep/${round % 3}/${process.pid}/er`;
  await Promise.all([
    session.call('file_write', { path: `${folder}/big.txt`, content, create_dirs: true }),
    session.call('file_write', { path: `w/${round % 5}/small.txt`, content: `${round}`, create_dirs: true }),
    session.call('fs_copy', { src: 'tree', dst: `copies/${process.pid}-${round}` }),
  ]);
  await session.call('fs_delete', { path: `copies/${process.pid}-${round}`, recursive: true });
}
