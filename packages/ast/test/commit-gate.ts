/** A tool that means to commit and does nothing: what its calls answer is the word of the rules alone. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { type AnyTool, defineTool } from '@tool-runtime/sdk';
import { z } from 'zod';
import { type CodeRuntime, type Files, openCodeRuntime } from './code-runtime.ts';

const commitProbe: AnyTool = defineTool({
  name: 'commit_probe',
  category: 'probe',
  title: 'Gate',
  summary: 'Passes the gate of a commit and stops there',
  args: z.strictObject({}),
  data: z.strictObject({}),
  annotations: { kind: 'edit', side_effect_level: 'workspace_write' },
  effect: 'write',
  risk: 'medium',
  timeoutMs: 60_000,
  git: () => ({ verb: 'commit' }),
  run: () => ({}),
});

export interface CommitGate extends AsyncDisposable {
  readonly code: CodeRuntime;
  /** Stages the files and asks to commit. */
  commit(files: Files): Promise<GateAnswer>;
}

export interface GateAnswer {
  readonly ok: boolean;
  readonly error: ErrorEntry | undefined;
  readonly warnings: readonly ErrorEntry[];
}

export interface GateOptions {
  readonly rule: string;
  readonly level?: 'blocking' | 'warning';
  /** Further lines of the registry. */
  readonly registry?: string;
  /** Committed before. */
  readonly files?: Files;
}

export async function openCommitGate({
  rule,
  level = 'blocking',
  registry = '',
  files = {},
}: GateOptions): Promise<CommitGate> {
  const code = await openCodeRuntime(files, {
    git: true,
    registry: `validators: [{rule: ${rule}, enforcement: ${level}}]\ngit: {require_clean_tree_for_commit: false}\n${registry}`,
    tools: [commitProbe],
  });
  return {
    code,
    async commit(changed) {
      code.write(changed);
      code.git('add', '--all');
      const { ok, errors, warnings } = await code.call('commit_probe', {});
      return { ok, error: errors[0], warnings };
    },
    [Symbol.asyncDispose]: () => code[Symbol.asyncDispose](),
  };
}

/** Messages of everything a blocking error stands for. */
export function messagesOf(error: ErrorEntry | undefined): readonly string[] {
  const all = error?.details?.['violations'] as readonly { readonly message: string }[] | undefined;
  return all?.map(({ message }) => message) ?? (error === undefined ? [] : [error.message]);
}
