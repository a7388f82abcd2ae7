/** Texts that fitted a file only by a lenient level: refused where the registry says so, else a warning. */
import { ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '../../contracts/tool.ts';
import { counted } from '../../present/rows.ts';
import type { MatchLevel } from '../../text/edit-ladder.ts';

export interface Fitted {
  readonly line: number;
  readonly match: MatchLevel;
}

/** Before anything is written. `what` is one of them, such as `edit`. */
export function checkInexact(placed: readonly Fitted[], what: string, path: string, context: ToolContext): void {
  const inexact = placed.filter(({ match }) => match !== 'exact');
  const [first] = inexact;
  if (first === undefined) return;
  const match = [...new Set(inexact.map((one) => one.match))];
  const message = `${counted(inexact.length, what)} of ${path} fitted only by ${match.join(', ')}`;
  const facts = { match, line: first.line };
  if (context.registry.edits.inexact === 'refuse') {
    throw new ToolError('E_POLICY', `${message}, and the registry accepts exact text only`, {
      path,
      details: {
        gate: 'edits',
        reason: 'inexact_refused',
        rule: 'edits.inexact',
        ...facts,
        next: `Read the file around line ${first.line} and copy its lines exactly; nothing was changed`,
      },
    });
  }
  context.warn({
    code: 'E_FILE_IO',
    message,
    path,
    details: { reason: 'inexact_match', ...facts, next: 'Check what was changed' },
  });
}
