/** What the bundles say of the built-in tools, against the sources they were made from. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ensureBuilt } from '../../packages/host/test/ensure-built.ts';

const root = path.join(import.meta.dirname, '../..');

/** Lists before and after the first call of a tool, which loads it, and what a call before that would have run on. */
const PROGRAM = `
  import { createAst } from '@tool-runtime/ast';
  import { createRuntime } from '@tool-runtime/sdk';
  const registry = { file: 'ops.yaml', text: 'version: 1\\nshell: { mode: sandboxed }\\n' };
  const runtime = await createRuntime({ workspace: process.argv[1], state: process.argv[2], ast: createAst(), registry });
  const session = await runtime.openSession();
  const before = session.tools();
  const refused = await session.call('file_read', { path: 1 });
  const missing = await session.call('ast_query', { where: { name: 'none' } });
  const strange = await session.call('file_read', { pth: 'a.txt' });
  const foreign = await session.call('Read', { file_path: 'a.txt' });
  const listed = await session.call('fs_list', { glob: '*' });
  const after = session.tools();
  console.log(JSON.stringify({
    fingerprint: session.snapshot.runtime_package_fingerprint, before, after,
    answers: [refused, missing, strange, foreign].map(({ ok, errors }) => ({ ok, errors })),
    text: session.present({ tool: 'fs_list', args: { glob: '*' } }, listed).text,
  }));
  await runtime.close();
`;

test('sessions of sources and of bundles have the same tools, schemas and fingerprint, loaded or not', () => {
  ensureBuilt();
  const scratch = mkdtempSync(path.join(tmpdir(), 'tool-runtime-bundles-'));
  try {
    const state = (name: string) => path.join(scratch, name);
    const workspace = mkdtempSync(path.join(scratch, 'workspace-'));
    const run = (options: readonly string[], name: string) =>
      JSON.parse(
        execFileSync(process.execPath, [...options, '--input-type=module', '-e', PROGRAM, workspace, state(name)], {
          cwd: path.join(root, 'packages/host'),
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }),
      ) as { readonly before: readonly object[]; readonly after: readonly object[]; readonly answers: object };
    const sources = run(['-C', 'tool-runtime-source'], 'sources');
    const bundles = run([], 'bundles');
    assert.deepEqual(bundles, sources);
    assert.deepEqual(bundles.after, bundles.before);
    assert.ok(bundles.before.length > 30);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});
