/** A runtime on folders of its own with the files the kernel group reads and writes; gone with one call. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, defineTool, type JournalStore, type Session } from '@tool-runtime/sdk';
import { z } from 'zod';

/** Answers at once: what remains is the path every call takes. */
const noOperation = defineTool({
  name: 'no_operation',
  category: 'bench',
  title: 'Do nothing',
  summary: 'Answer at once',
  args: z.strictObject({ text: z.string() }),
  data: z.strictObject({ done: z.boolean() }),
  annotations: { kind: 'think', side_effect_level: 'none' },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 1000,
  run: () => ({ done: true }),
});

export interface BenchRuntime {
  readonly workspace: string;
  call(tool: string, args: unknown): Promise<void>;
  dispose(): Promise<void>;
}

export interface BenchRuntimeOptions {
  /** Left out: the sqlite journal. */
  readonly journal?: JournalStore;
  readonly durability?: 'normal' | 'full';
  /** Name → content of what lies in the workspace. */
  readonly files: Readonly<Record<string, string>>;
}

export async function openBenchRuntime({ journal, durability, files }: BenchRuntimeOptions): Promise<BenchRuntime> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-'));
  const workspace = join(scratch, 'workspace');
  mkdirSync(workspace);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(workspace, name), content);
  const runtime = await createRuntime({
    workspace,
    state: join(scratch, 'state'),
    tools: [noOperation],
    durability: durability ?? 'normal',
    ...(journal === undefined ? {} : { ports: { journal } }),
  });
  const session = await runtime.openSession({ client: 'bench' });
  return {
    workspace,
    call: (tool, args) => callOrThrow(session, tool, args),
    async dispose() {
      await runtime.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** A refusal is fast, so it must not be taken for a figure. */
async function callOrThrow(session: Session, tool: string, args: unknown): Promise<void> {
  const { ok, errors } = await session.call(tool, args);
  if (!ok) throw new TypeError(`The benchmark was refused: ${tool}: ${errors[0]?.message}`);
}
