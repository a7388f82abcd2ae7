/** Whether the tools of a session and its policy fit together, judged before it opens. */
import { ToolError } from '@tool-runtime/protocol';
import type { Registry } from '../contracts/registry.ts';
import type { AnyTool } from '../contracts/tool.ts';
import { validateSurface } from '../policy/surface.ts';
import type { RuntimeParts } from './compile-session.ts';

/** A surface with errors never opens: better no session than one whose tools contradict its policy. */
export function checkSurface(
  tools: readonly AnyTool[],
  registry: Registry,
  { hooks }: Pick<RuntimeParts, 'hooks'>,
): void {
  const report = validateSurface({
    tools,
    ceiling: registry.ceiling,
    approvals: registry.approvals,
    hooks,
  });
  if (report.valid) return;
  const errors = report.diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  throw new ToolError('E_VALIDATION_FAIL', `Tools and policy do not fit: ${errors[0]?.message ?? 'unknown'}`, {
    details: { diagnostics: errors.map((diagnostic) => ({ ...diagnostic })) },
  });
}
