/** Makes one keyed edit of two files in each scene and stops each at its point. Killed by keyed-edit.deep.test.ts. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createRuntime } from '@tool-runtime/sdk';
import { createAst } from '../src/index.ts';

export interface EditScene {
  readonly id: string;
  readonly workspace: string;
  readonly state: string;
  /** After `half-written` no other scene can be made. */
  readonly point: 'after-intent' | 'half-written' | 'after-effect';
}

/** A stopped call waits for the others, which take longer than its usual limit where the machine is busy. */
const WITHOUT_HURRY = 'version: 1\ntools:\n  ast_edit: {timeout_ms: 3600000, max_timeout_ms: 3600000}\n';

/** Nothing else would keep the process alive. */
setInterval(() => {}, 1000);

for (const { id, workspace, state, point } of JSON.parse(process.argv[2] ?? '[]') as readonly EditScene[]) {
  const stopped = Promise.withResolvers<void>();
  let args: object = {};
  const stop = (answer: unknown = null): Promise<never> => {
    process.stdout.write(`${JSON.stringify({ id, args, answer })}\n`);
    stopped.resolve();
    return new Promise(() => {});
  };
  const runtime = await createRuntime({
    ...{ workspace, state, ast: createAst(), registry: { file: 'ops.yaml', text: WITHOUT_HURRY } },
    ports: {
      wrapParts: (parts) => ({
        ...parts,
        journal: {
          ...parts.journal,
          async claim(...given) {
            const state = await parts.journal.claim(...given);
            if (point === 'after-intent') await stop();
            return state;
          },
          async settle(scope, key, answer, records) {
            if (point === 'after-effect') await stop(answer);
            await parts.journal.settle(scope, key, answer, records);
          },
        },
      }),
    },
  });
  const session = await runtime.openSession({ actor: 'crash', client: 'keyed-edit-child' });
  const { data } = await session.call('ast_query', { where: { name_like: 'load' } });
  const [node] = (data as { nodes: readonly { id: string }[] }).nodes;
  args = { operation: 'rename_symbol', target_node_id: node?.id ?? '', new_name: 'fetchOne' };
  if (point === 'half-written') {
    // The commit is on record and its first file is being written: stands still until it is killed.
    fs.fchmodSync = () => {
      fs.writeSync(1, `${JSON.stringify({ id, args, answer: null })}\n`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    };
    syncBuiltinESMExports();
  }
  void session.call('ast_edit' as string, args, { idempotencyKey: 'only-once' }).then((response) => {
    process.stderr.write(`not stopped at ${point}: ${JSON.stringify(response)}\n`);
    process.exit(1);
  });
  await stopped.promise;
}
