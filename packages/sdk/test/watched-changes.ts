/** A runtime whose code index writes down what it is told: `-o` new, `o-` gone, `oo` changed. */
import type { AstIndex } from '../src/contracts/ast.ts';
import type { AnyTool } from '../src/contracts/tool.ts';
import { openGitRuntime, type TestRepository } from './git-repository.ts';

export async function changesOf(
  repository: TestRepository,
  tools: readonly AnyTool[],
  call: { readonly tool: string; readonly args: object },
): Promise<readonly string[]> {
  const seen: string[] = [];
  const refresh: AstIndex['refresh'] = async (changes) => {
    for (const { path, before, after } of changes) {
      seen.push(`${before === null ? '-' : 'o'}${after === null ? '-' : 'o'} ${path}`);
    }
  };
  const runtime = await openGitRuntime(repository, { tools, ast: { refresh } as AstIndex });
  try {
    await runtime.call(call.tool, call.args);
  } finally {
    await runtime.dispose();
  }
  return [...new Set(seen)].sort();
}
