/** A keyed edit of several files whose process is killed: its key means all of the edit, once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { createRuntime } from '@tool-runtime/sdk';
import { createAst } from '../src/index.ts';
import * as tools from '../src/tools/catalog.ts';
import type { EditScene } from './keyed-edit-child.ts';

const CHILD = new URL('./keyed-edit-child.ts', import.meta.url).pathname;
const FILES = {
  'src/a.ts': 'export function load(): number {\n  return 1;\n}\n',
  'src/b.ts': "import { load } from './a.ts';\n\nexport const one = load();\n",
};

interface Stopped {
  readonly id: string;
  readonly args: object;
  readonly answer: { readonly data: unknown } | null;
}

async function killed(scenes: readonly EditScene[]): Promise<ReadonlyMap<string, Stopped>> {
  const child = spawn(process.execPath, ['-C', 'tool-runtime-source', CHILD, JSON.stringify(scenes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stopped = new Map<string, Stopped>();
  for await (const line of createInterface({ input: child.stdout })) {
    const one = JSON.parse(line) as Stopped;
    stopped.set(one.id, one);
    if (stopped.size === scenes.length) break;
  }
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  return stopped;
}

test('an edit of several files that was killed: proven, run, or unknown, and never half or twice [S1-42 S1-43]', async (t) => {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'tool-runtime-keyed-edit-')));
  t.after(() => rmSync(scratch, { recursive: true, force: true }));
  const scenes = (['after-intent', 'after-effect', 'half-written'] as const).flatMap((point) =>
    (point === 'half-written' ? ['quiet'] : ['quiet', 'written']).map((id) => {
      const folder = join(scratch, `${point}-${id}`);
      mkdirSync(join(folder, 'work/src'), { recursive: true });
      for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, 'work', name), text);
      return { id: `${point} ${id}`, workspace: join(folder, 'work'), state: join(folder, 'state'), point };
    }),
  );
  const stopped = await killed(scenes);
  for (const { id, workspace, state, point } of scenes) {
    const read = () => Object.keys(FILES).map((name) => readFileSync(join(workspace, name), 'utf8'));
    if (id.endsWith('written')) writeFileSync(join(workspace, 'src/b.ts'), 'export const two = 2;\n');
    const found = read();
    const runtime = await createRuntime({ workspace, state, ast: createAst() });
    const session = await runtime.openSession({ actor: 'crash', client: 'retry' });
    const { args, answer } = stopped.get(id) as Stopped;
    const response = await session.call('ast_edit' as string, args, { idempotencyKey: 'only-once' });
    await runtime.close();
    if (id === 'after-intent quiet' || id === 'half-written quiet') {
      assert.ok(response.ok, JSON.stringify(response.errors));
      assert.deepEqual(
        read(),
        Object.values(FILES).map((text) => text.replace('load', 'fetchOne').replace('load', 'fetchOne')),
      );
    } else if (id === 'after-effect quiet') {
      assert.deepEqual([response.ok, response.data], [true, answer?.data], id);
      assert.deepEqual(read(), found, point);
    } else {
      assert.equal(response.errors[0]?.details?.['reason'], 'outcome_unknown', `${id} ${JSON.stringify(response)}`);
      assert.deepEqual(read(), found, id);
    }
  }
});

test('every tool of this package that changes something says how a lost call is told from one that never ran', () => {
  const services = () => assert.fail('not used');
  const changing = Object.values(tools)
    .map((make) => make(services))
    .filter(({ effect }) => effect !== 'read');
  assert.deepEqual(
    changing.map(({ name, rehearse }) => [name, typeof rehearse]),
    [
      ['ast_edit', 'function'],
      ['ast_external', 'string'],
    ],
  );
});
