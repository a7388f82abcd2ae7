/**
 * Path rules hold for what a path leads to, on every tool of the catalog that takes paths.
 *
 * Trees with random links, paths through them, and every kind of rule; afterwards the disk and the answer are compared
 * with a runtime that has no rules. Nothing outside the allowed globs may have changed or been told, and what stays inside
 * must work as it does without rules. A tool that is added to the catalog must be given arguments here.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { AnyTool } from '../src/contracts/tool.ts';
import * as catalog from '../src/tools/catalog.ts';
import { createTemplate, type Half, isInside, type Link, openHalf, realPathIn, SECRET } from './path-rule-world.ts';

const SEED = 7;
const RUNS = Number(process.env['PATH_RULE_RUNS'] ?? 25);
const GIT_RUNS = Math.ceil(RUNS / 5);

/** Paths of the change tools choose among those of a change set: change-undo.test.ts has their rules. */
const TOOLS: readonly AnyTool[] = Object.values<AnyTool>(catalog).filter(({ category }) => category !== 'changes');
const takesPaths = ({ annotations }: AnyTool): boolean => (annotations?.arg_schema?.path_params ?? []).length > 0;
const PATCH = '@@ -1 +1 @@\n-first\n+patched\n';

/** Arguments of a call about one path, or two; `value` stands for the path of every key that is not named. */
const ARGUMENTS: Readonly<Record<string, (first: string, second: string) => JsonObject>> = {
  file_read: (path) => ({ path }),
  file_write: (path) => ({ path, content: 'written\n', create_dirs: true }),
  file_edit: (path) => ({ path, old: 'first', new: 'edited' }),
  file_patch: (path) => ({ path, unified_diff: PATCH }),
  fs_copy: (src, dst) => ({ src, dst, overwrite: true }),
  fs_move: (src, dst) => ({ src, dst, overwrite: true }),
  fs_delete: (path) => ({ path, recursive: true }),
  fs_stat: (...path) => ({ path }),
  fs_tree: (path) => ({ path }),
  git_add: (...paths) => ({ paths }),
  git_blame: (path) => ({ path, rev: null }),
  git_conflicts: (...paths) => ({ paths }),
  git_diff: (...paths) => ({ paths }),
  git_log: (...paths) => ({ paths }),
  git_restore: (...paths) => ({ paths }),
  git_show: (path) => ({ rev: 'HEAD', path }),
  shell_exec: (cwd) => ({ argv: ['touch', 'made'], cwd }),
};

const name = fc.constantFrom('allowed', 'secret', 'sub', 'a.txt', 's.txt', 'b.txt', 't.txt', 'new', 'l0', 'l1', 'l2');
const step = fc.oneof({ weight: 8, arbitrary: name }, { weight: 1, arbitrary: fc.constantFrom('..', '.', '') });
const path = fc
  .tuple(
    fc.constantFrom('allowed', 'allowed', 'allowed', 'allowed/sub', 'secret', ''),
    fc.array(step, { minLength: 0, maxLength: 3 }),
  )
  .map(([start, steps]) => [start, ...steps].filter((part, at) => at > 0 || part !== '').join('/') || '.')
  .map((text) => (text.startsWith('/') ? `.${text}` : text));
const glob = fc.constantFrom(
  'allowed/*',
  'allowed/**',
  '**',
  '*',
  '*/*.txt',
  'allowed/{a.txt,../secret/s.txt}',
  '{allowed,secret}/*.txt',
  'allowed/l0/*',
  'allowed/../secret/*',
);
const link: fc.Arbitrary<Link> = fc.record({
  at: fc
    .tuple(fc.constantFrom('allowed/', 'allowed/sub/', 'secret/', ''), fc.constantFrom('l0', 'l1', 'l2'))
    .map((parts) => parts.join('')),
  to: fc.constantFrom(
    ...[
      '../secret',
      '../allowed',
      'secret',
      'allowed',
      '../secret/s.txt',
      'a.txt',
      'sub',
      '../../secret',
      'l1',
      '../l2',
    ],
    ...[
      'sub/../../secret',
      './../allowed/sub',
      '..',
      '../allowed/l1',
      '../secret/l0',
      '/etc',
      'nowhere',
      'l0/../../secret',
    ],
  ),
});

interface Scene {
  readonly links: readonly Link[];
  readonly first: string;
  readonly second: string;
}

function scenes(tool: AnyTool): fc.Arbitrary<Scene> {
  const isSet = tool.annotations?.arg_schema?.set_params !== undefined && tool.name !== 'git_show';
  const value = isSet ? fc.oneof(path, glob) : path;
  return fc.record({ links: fc.array(link, { maxLength: 4 }), first: value, second: value });
}

const named = TOOLS.filter(takesPaths);
const KINDS: Readonly<Record<string, string>> = {
  'constraints without a key': `arg_constraints: ${JSON.stringify(
    named.map(({ name: tool }) => ({ tool, arg_patterns: ['allowed/**'] })),
  )}`,
  'constraints of every key': `arg_constraints: ${JSON.stringify(
    named.flatMap((tool) =>
      (tool.annotations?.arg_schema?.path_params ?? []).map((key) => ({
        tool: tool.name,
        arg_key: key,
        arg_patterns: ['allowed/**'],
      })),
    ),
  )}`,
  'the write allow-list': "approvals: { auto_approve: ['*'], write_path_allowlist: ['allowed/**'] }",
};

const isReader = ({ annotations }: AnyTool): boolean => annotations?.kind === 'read' || annotations?.kind === 'search';

/** What must not have happened, whatever was asked. */
function assertKept(tool: AnyTool, kind: string, done: Awaited<ReturnType<Half['call']>>): void {
  assert.deepEqual(
    done.changed.filter((changed) => !isInside('allowed', changed)),
    [],
    'nothing outside was changed',
  );
  if (kind === 'the write allow-list' && isReader(tool)) return;
  // The caller's own path and its redaction may stand in a message; content of a secret file never.
  assert.ok(!JSON.stringify(done.response).includes(SECRET), 'nothing outside was told');
}

/** Whether a path is inside by its letters and by where it leads. */
function isPlainlyInside(root: string, asked: string): boolean {
  if (/[*?{]/.test(asked)) return false;
  const parts: string[] = [];
  for (const part of asked.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return false;
  }
  const real = realPathIn(root, asked);
  return parts[0] === 'allowed' && real !== undefined && isInside('allowed', real);
}

test('every tool of the catalog that takes paths has arguments here', () => {
  assert.deepEqual(Object.keys(ARGUMENTS).sort(), named.map((tool) => tool.name).sort());
});

for (const [kind, registry] of Object.entries(KINDS)) {
  describe(`under ${kind}`, () => {
    let ruled: Half;
    let free: Half;
    const template = createTemplate();
    before(async () => {
      ruled = await openHalf(template, registry);
      free = await openHalf(template, '');
    });
    after(async () => {
      await ruled.close();
      await free.close();
      template.dispose();
    });
    for (const tool of named) {
      test(`${tool.name} reaches nothing that its rules do not allow, and everything they do`, async (t) => {
        const seen = { ok: 0, refused: 0 };
        const judge = async ({ links, first, second }: Scene): Promise<void> => {
          const args = ARGUMENTS[tool.name]?.(first, second) ?? {};
          ruled.reset(links);
          const uses = Object.values(args)
            .flat()
            .filter((value) => value === first || value === second);
          const isAllowed = uses.every((use) => isPlainlyInside(ruled.folder, String(use)));
          const asked = await ruled.call(tool.name, args);
          seen[asked.response.ok ? 'ok' : 'refused'] += 1;
          assertKept(tool, kind, asked);
          if (!isAllowed) return;
          free.reset(links);
          const twin = await free.call(tool.name, args);
          if (!twin.response.ok || twin.changed.some((changed) => !isInside('allowed', changed))) return;
          assert.deepEqual(asked.response.errors, [], 'what stays inside works');
          assert.deepEqual(asked.changed, twin.changed);
        };
        const numRuns = tool.category === 'git' ? GIT_RUNS : RUNS;
        await fc.assert(fc.asyncProperty(scenes(tool), judge), { seed: SEED, numRuns });
        await judge({
          links: [{ at: 'allowed/l0', to: '../secret' }],
          first: 'allowed/l0/s.txt',
          second: 'allowed/l0',
        });
        await judge({
          links: [{ at: 'allowed/l0', to: 'sub' }],
          first: 'allowed/l0/b.txt',
          second: 'allowed/l0/c.txt',
        });
        await judge({ links: [], first: 'allowed/a.txt', second: 'allowed/sub/b.txt' });
        t.diagnostic(JSON.stringify(seen));
        assert.ok(seen.ok > 0 || tool.name === 'shell_exec');
      });
    }
  });
}
