/** Random registries and calls, and what the gates really said to calls that were made. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { DecisionRecord } from '../src/contracts/journal.ts';
import { decidedBefore } from '../src/rehearsal/recorded-calls.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../src/runtime.ts';

export interface MadeUpCall {
  readonly tool: string;
  readonly args: JsonObject;
}

const TOOLS = ['file_read', 'file_write', 'fs_list', 'fs_delete', 'shell_exec'] as const;
const PATTERNS = ['docs/**', 'src/*', '*.md', '**', '.', 'docs/a.md'] as const;

const subset = <T>(values: readonly T[]) => fc.subarray([...values]);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const approvals = fc.record(
  {
    auto_approve: subset(TOOLS),
    auto_deny: fc.constantFrom(['fs_delete'], ['fs_*'], []),
    require_approval: fc.constantFrom(['file_read'], ['file_*'], []),
    write_path_allowlist: subset(PATTERNS),
  },
  { requiredKeys: [] },
);

const constraint = fc.record({ tool: fc.constantFrom(...TOOLS, 'file_*'), arg_patterns: subset(PATTERNS) });

/** As a document; what does not load or fits no tools is skipped where it is opened. */
export const anyRegistry: fc.Arbitrary<JsonObject> = fc
  .record({
    allowed_tools: maybe(subset(TOOLS).map((tools) => [...tools, 'artifact_read'])),
    side_effect_level: maybe(fc.constantFrom('read_only', 'workspace_write', 'process_exec')),
    tools: maybe(fc.constantFrom({ fs_list: { enabled: false } }, { file_write: { enabled: false } })),
    approvals: maybe(approvals),
    arg_constraints: maybe(fc.array(constraint, { maxLength: 2 })),
    shell_allow: maybe(subset(['^ls( |$)', '^true$', '^echo [a-z]+$'])),
    shell_deny: maybe(fc.constantFrom(['^ls -R'], ['echo'])),
    shell_ask: maybe(fc.constantFrom(['^echo'], ['^ls'])),
  })
  .map((registry) => JSON.parse(JSON.stringify({ version: 1, ...registry })) as JsonObject);

const PATHS = ['a.md', 'docs/a.md', 'docs/deep/b.md', 'src/x.ts', 'src/link', '../out', '/etc/hosts', '.'] as const;
const path = fc.constantFrom(...PATHS);

export const anyCall: fc.Arbitrary<MadeUpCall> = fc.oneof(
  path.map((at) => ({ tool: 'file_read', args: { path: at } })),
  path.map((at) => ({ tool: 'file_write', args: { path: at, content: 'x\n' } })),
  path.map((at) => ({ tool: 'fs_list', args: { path: at } })),
  path.map((at) => ({ tool: 'fs_delete', args: { path: `${at}.none` } })),
  fc
    .constantFrom('true', 'ls', 'ls -R', 'echo hello', 'ls && echo hello', 'rm a.md', 'echo $(true)')
    .map((cmd) => ({ tool: 'shell_exec', args: { cmd } })),
  fc.constantFrom(
    { tool: 'nope', args: {} },
    { tool: 'file_read', args: { path: 3 } },
    { tool: 'file_read', args: {} },
  ),
);

export interface Scene extends Disposable {
  readonly workspace: string;
  /** Undefined when the registry does not load, or does not fit its tools. */
  open(registry: JsonObject | string, options?: Partial<RuntimeOptions>): Promise<Runtime | undefined>;
}

export function createScene(): Scene {
  const root = mkdtempSync(join(tmpdir(), 'tool-runtime-rehearsal-'));
  const workspace = join(root, 'workspace');
  for (const folder of ['docs/deep', 'src']) mkdirSync(join(workspace, folder), { recursive: true });
  for (const file of ['a.md', 'docs/a.md', 'docs/deep/b.md', 'src/x.ts']) writeFileSync(join(workspace, file), 'x\n');
  symlinkSync('../docs/a.md', join(workspace, 'src/link'));
  let states = 0;
  return {
    workspace,
    async open(registry, options = {}) {
      states += 1;
      const text = typeof registry === 'string' ? registry : JSON.stringify(registry);
      try {
        const runtime = await createRuntime({
          workspace,
          state: join(root, `state-${states}`),
          registry: { file: 'r.yaml', text },
          ...options,
        });
        const session = await runtime.openSession().catch(async (thrown: unknown) => {
          await runtime.close();
          throw thrown;
        });
        await session.close();
        return runtime;
      } catch (thrown) {
        if (isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL') return undefined;
        throw thrown;
      }
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Makes the calls, and answers what the gates said to each by the journal. */
export async function makeCalls(runtime: Runtime, calls: readonly MadeUpCall[]): Promise<readonly string[]> {
  const session = await runtime.openSession();
  const said: string[] = [];
  for (const { tool, args } of calls) {
    const { seq } = runtime.head();
    await session.call(tool, args);
    const decisions = [...runtime.records({ after: seq })].filter((record) => record.kind === 'decision');
    const before = decidedBefore(decisions as readonly DecisionRecord[]);
    said.push(typeof before === 'string' ? before : before.unjudged);
  }
  await session.close();
  return said;
}
