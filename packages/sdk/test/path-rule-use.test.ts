/** Path rules at the moment of use: links that appear after the gate, files no argument names, folders, deletions. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ApprovalDispatcher } from '../src/contracts/policy.ts';
import { type AnyTool, defineTool } from '../src/contracts/tool.ts';
import type { RuntimeOptions, SessionOptions } from '../src/runtime.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';

const FILES = { 'docs/a.md': 'one\n', 'docs/sub/b.md': 'one\n', 'secret/a.md': 'keep\n', 'secret/docs/a.md': 'keep\n' };

async function scene(
  registry: string,
  use: (scratch: ScratchRuntime & Calls) => Promise<void>,
  options: Partial<RuntimeOptions> = {},
  session: SessionOptions = {},
): Promise<void> {
  const text = `version: 1\nisolation: none\n${registry}`;
  const scratch = await openScratchRuntime({ registry: { file: 'r.yaml', text }, ...options }, session);
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(join(scratch.workspace, name, '..'), { recursive: true });
    writeFileSync(join(scratch.workspace, name), content);
  }
  try {
    await use({ ...scratch, ...callsOf(scratch) });
  } finally {
    await scratch.dispose();
  }
}

interface Calls {
  refused(tool: string, args: JsonObject): Promise<string>;
  ok(tool: string, args: JsonObject): Promise<void>;
  read(path: string): string;
}

function callsOf({ session, workspace }: ScratchRuntime): Calls {
  return {
    async refused(tool, args) {
      const { ok, errors } = await session.call(tool, args);
      assert.equal(ok, false, tool);
      assert.equal(errors[0]?.code, 'E_POLICY', errors[0]?.message);
      return errors[0]?.message ?? '';
    },
    async ok(tool, args) {
      const { errors } = await session.call(tool, args);
      assert.deepEqual(errors, []);
    },
    read: (path) => readFileSync(join(workspace, path), 'utf8'),
  };
}

const only = (tool: string, more = ''): string =>
  `arg_constraints: [{ tool: ${tool}, arg_patterns: ['docs/**']${more} }]`;

describe('a link that appears after the gate', () => {
  const CALLS: Readonly<Record<string, JsonObject>> = {
    file_write: { path: 'docs/sub/b.md', content: 'x' },
    file_edit: { path: 'docs/sub/b.md', old: 'keep', new: 'lost' },
    file_patch: { path: 'docs/sub/b.md', unified_diff: '@@ -1 +1 @@\n-keep\n+lost\n' },
    file_read: { path: 'docs/sub/a.md' },
    fs_copy: { src: 'docs/sub/a.md', dst: 'docs/got.md' },
    fs_move: { src: 'docs/a.md', dst: 'docs/sub/moved.md' },
    fs_delete: { path: 'docs/sub/a.md' },
    fs_stat: { path: ['docs/a.md', 'docs/sub/a.md'] },
  };
  for (const [tool, args] of Object.entries(CALLS)) {
    test(`is seen by ${tool}`, async () => {
      let workspace = '';
      // The approver is asked after the gates; meanwhile a job of the session exchanges the folder.
      const approvals: ApprovalDispatcher = {
        async ask() {
          renameSync(join(workspace, 'docs/sub'), join(workspace, 'docs/old'));
          symlinkSync('../secret', join(workspace, 'docs/sub'));
          return { answer: 'approved', by: 'operator' };
        },
      };
      const registry = `${only(tool)}\napprovals: { require_approval: ['*'] }`;
      await scene(
        registry,
        async (scratch) => {
          ({ workspace } = scratch);
          await scratch.refused(tool, args);
          assert.equal(scratch.read('secret/a.md'), 'keep\n');
          assert.equal(existsSync(join(workspace, 'secret/moved.md')), false);
          assert.equal(existsSync(join(workspace, 'docs/got.md')), false);
        },
        { approvals },
      );
    });
  }
});

/** Uses paths that its arguments do not name, after it has put a link where one leads. */
function probe(use: (context: Parameters<AnyTool['run']>[1], path: string) => unknown): AnyTool {
  return defineTool({
    name: 'probe',
    category: 'probe',
    title: 'Probe',
    summary: 'Uses other files than it was told',
    args: z.strictObject({ path: z.string(), other: z.string().default('docs/x.md') }),
    data: z.strictObject({}),
    annotations: {
      kind: 'edit',
      side_effect_level: 'workspace_write',
      arg_schema: { path_params: ['path'] },
      capabilities: { workspace: ['write_text'] },
    },
    effect: 'write',
    risk: 'low',
    timeoutMs: 60_000,
    async run({ path, other }, context) {
      await use(context, other === '' ? path : other);
      return {};
    },
  });
}

describe('the gates', () => {
  /** Asked once for each call that passed the gates; exchanges the folder when told to. */
  function approver(swap: () => void) {
    const asked = { times: 0 };
    const approvals: ApprovalDispatcher = {
      async ask() {
        asked.times += 1;
        swap();
        return { answer: 'approved', by: 'operator' };
      },
    };
    return { asked, approvals };
  }
  const registry = `${only('probe')}\napprovals: { require_approval: ['*'] }`;

  test('refuse a link before a question is asked', async () => {
    const { asked, approvals } = approver(() => {});
    await scene(
      registry,
      async ({ workspace, refused, ok }) => {
        symlinkSync('../secret', join(workspace, 'docs/link'));
        await refused('probe', { path: 'docs/link/a.md' });
        assert.equal(asked.times, 0);
        await ok('probe', { path: 'docs/a.md' });
        assert.equal(asked.times, 1);
      },
      { approvals, tools: [probe(() => {})] },
    );
  });

  test('judge once more before a tool runs that finds files by itself', async () => {
    let workspace = '';
    let runs = 0;
    const { approvals } = approver(() => {
      renameSync(join(workspace, 'docs/sub'), join(workspace, 'docs/old'));
      symlinkSync('../secret', join(workspace, 'docs/sub'));
    });
    await scene(
      registry,
      async (scratch) => {
        ({ workspace } = scratch);
        await scratch.refused('probe', { path: 'docs/sub/a.md' });
        assert.equal(runs, 0);
      },
      { approvals, tools: [probe(() => void runs++)] },
    );
  });
});

describe('files that no argument names', () => {
  const WRITES: Readonly<Record<string, Parameters<typeof probe>[0]>> = {
    writeFile: ({ workspace }, path) => workspace.writeFile(path, Buffer.from('x'), { createDirs: true }),
    removeFile: ({ workspace }, path) => workspace.removeFile(path),
    makeDirectory: ({ workspace }, path) => workspace.makeDirectory(`${path}.folder`),
    'move from': ({ workspace }, path) => workspace.move(path, 'docs/moved', { overwrite: true }),
    'move to': ({ workspace }, path) => workspace.move('docs/a.md', path, { overwrite: true }),
    'copy to': ({ workspace }, path) => workspace.copy('docs/a.md', path, { overwrite: true, preserveMode: true }),
    remove: ({ workspace }, path) => workspace.remove(path, { recursive: true }),
    requireAllowed: ({ workspace }, path) => workspace.requireAllowed(path, 'write'),
  };
  for (const registry of [
    only('probe'),
    "approvals: { auto_approve: ['*'], write_path_allowlist: ['docs/**'] }",
    `${only('probe')}\napprovals: { auto_approve: ['*'] }`,
  ]) {
    for (const [name, use] of Object.entries(WRITES)) {
      test(`${name} is judged by the place, under ${registry}`, async () => {
        await scene(
          registry,
          async ({ workspace, refused, ok, read }) => {
            symlinkSync('../secret', join(workspace, 'docs/link'));
            symlinkSync('sub', join(workspace, 'docs/inner'));
            for (const other of [
              'secret/a.md',
              'docs/link/a.md',
              'docs/sub/../../secret/a.md',
              'docs/inner/../link/a.md',
            ]) {
              await refused('probe', { path: 'docs/a.md', other });
              assert.equal(read('secret/a.md'), 'keep\n');
            }
            await ok('probe', { path: 'docs/a.md', other: 'docs/inner/b.md' });
          },
          { tools: [probe(use)] },
        );
      });
    }
  }

  test('a tree is judged entry by entry', async () => {
    const registry =
      "arg_constraints: [{ tool: 'fs_{delete,move,copy}', arg_patterns: ['{docs,out}/*', 'docs/sub/*.md'] }]";
    await scene(registry, async ({ workspace, refused, ok, read }) => {
      writeFileSync(join(workspace, 'docs/sub/c.txt'), 'keep\n');
      mkdirSync(join(workspace, 'out'));
      await refused('fs_delete', { path: 'docs/sub', recursive: true });
      await refused('fs_copy', { src: 'docs/sub', dst: 'out/sub' });
      await refused('fs_move', { src: 'docs/sub', dst: 'out/sub' });
      assert.equal(read('docs/sub/c.txt'), 'keep\n');
      await ok('fs_delete', { path: 'docs/sub/b.md' });
      await ok('fs_move', { src: 'docs/a.md', dst: 'out/a.md' });
    });
  });

  test('a key speaks about its own path: the source may be anywhere, the target may not', async () => {
    await scene(only('fs_copy', ', arg_key: dst'), async ({ workspace, refused, ok }) => {
      symlinkSync('../secret', join(workspace, 'docs/link'));
      await refused('fs_copy', { src: 'secret/a.md', dst: 'docs/link/b.md' });
      await refused('fs_copy', { src: 'secret/a.md', dst: 'secret/b.md' });
      await ok('fs_copy', { src: 'secret/a.md', dst: 'docs/b.md' });
    });
  });
});

test('a set of paths that is left out means everything, and is judged so', async () => {
  const registry = "arg_constraints: [{ tool: git_diff, arg_patterns: ['docs/**'] }]";
  await scene(registry, async ({ workspace, refused, ok }) => {
    execFileSync('git', ['init', '--quiet'], { cwd: workspace });
    assert.match(await refused('git_diff', {}), /paths = "\."/);
    await refused('git_diff', { paths: [] });
    await refused('git_diff', { paths: ['docs', '.'] });
    await ok('git_diff', { paths: ['docs'] });
  });
});

describe('the folder a command starts in', () => {
  test('is judged by where it is when the command starts', async () => {
    const registry = `${only('shell_exec')}\nshell_allow: ['^touch made$']`;
    await scene(registry, async ({ workspace, refused, ok }) => {
      symlinkSync('../secret', join(workspace, 'docs/link'));
      const call = (cwd: string) => ({ argv: ['touch', 'made'], cwd });
      for (const cwd of ['docs/link', 'secret', '.', 'docs/link/../secret']) await refused('shell_exec', call(cwd));
      assert.equal(existsSync(join(workspace, 'secret/made')), false);
      await ok('shell_exec', call('docs/sub'));
      assert.equal(existsSync(join(workspace, 'docs/sub/made')), true);
    });
  });
});

describe('a session on a folder', () => {
  const registry = `${only('file_*')}\napprovals: { auto_approve: ['*'], write_path_allowlist: ['docs/**'] }`;
  const rooted = (root: string): SessionOptions => ({ capabilities: { workspace_roots: [root] } });

  test('is judged by where the folder is: the same name elsewhere is another file', async () => {
    await scene(registry, async ({ runtime, read }) => {
      for (const [root, ok] of [
        ['secret', false],
        ['docs', true],
      ] as const) {
        const session = await runtime.openSession(rooted(root));
        const path = root === 'docs' ? 'a.md' : 'docs/a.md';
        const { errors } = await session.call('file_write', { path, content: 'new' });
        assert.equal(errors.length === 0, ok, `${root} ${errors[0]?.message}`);
        const child = await session.openChild({
          agentId: 'child',
          folder: root === 'docs' ? 'sub' : 'docs',
          tools: ['file_write'],
        });
        const inner = await child.call('file_write', { path: 'b.md', content: 'new' });
        assert.equal(inner.ok, ok, inner.errors[0]?.message);
      }
      assert.equal(read('secret/docs/a.md'), 'keep\n');
      assert.equal(read('docs/a.md'), 'new');
      assert.equal(read('docs/sub/b.md'), 'new');
    });
  });
});

describe('a patch that deletes', () => {
  const DELETION = '--- a/docs/a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n';
  const GIT_DELETION = `diff --git a/docs/a.md b/docs/a.md\ndeleted file mode 100644\n${DELETION}`;
  const EDIT = '@@ -1 +1 @@\n-one\n+two\n';
  const FORBIDDING: Readonly<Record<string, string>> = {
    'a ceiling of operations': 'capabilities: { workspace: [read_text, write_text] }',
    'a list of tools': 'allowed_tools: [file_patch, file_read]',
    'a tool that is switched off': 'tools: { fs_delete: { enabled: false } }',
    'a denial of deletions': "approvals: { auto_approve: ['*'], auto_deny: [fs_delete] }",
    'deletions that need a yes': 'approvals: { auto_approve: [file_patch], require_approval: [fs_delete] }',
    'a constraint of deletions': "arg_constraints: [{ tool: fs_delete, arg_patterns: ['tmp/**'] }]",
  };
  for (const [name, registry] of Object.entries(FORBIDDING)) {
    test(`is refused by ${name}, and the twin that edits is not`, async () => {
      await scene(registry, async ({ refused, ok, read }) => {
        for (const unified_diff of [DELETION, GIT_DELETION]) {
          await refused('file_patch', { path: 'docs/a.md', unified_diff });
          assert.equal(read('docs/a.md'), 'one\n');
        }
        await ok('file_patch', { path: 'docs/a.md', unified_diff: EDIT });
        assert.equal(read('docs/a.md'), 'two\n');
      });
    });
  }

  test('works where deleting is allowed', async () => {
    for (const registry of [
      '',
      'capabilities: { workspace: [write_text, delete] }',
      'allowed_tools: [file_patch, fs_delete]',
      'approvals: { auto_approve: [file_patch, fs_delete] }',
      "arg_constraints: [{ tool: fs_delete, arg_patterns: ['docs/**'] }]",
    ]) {
      await scene(registry, async ({ workspace, ok }) => {
        await ok('file_patch', { path: 'docs/a.md', unified_diff: DELETION });
        assert.equal(existsSync(join(workspace, 'docs/a.md')), false);
      });
    }
  });

  test('a rule sees the names inside a diff too', async () => {
    const renamed = (old: string): string => `--- ${old}\n+++ b/docs/a.md\n@@ -1 +1 @@\n-one\n+two\n`;
    await scene(only('file_patch'), async ({ workspace, refused, ok }) => {
      symlinkSync('../secret', join(workspace, 'docs/link'));
      for (const old of ['a/secret/a.md', '/etc/passwd', 'a/docs/link/b.md', 'a/../docs/b.md']) {
        await refused('file_patch', { path: 'docs/a.md', unified_diff: renamed(old) });
      }
      await ok('file_patch', { path: 'docs/a.md', unified_diff: renamed('a/docs/a.md.orig') });
    });
  });
});
