/** Edits that are understood and yet not meant: a placeholder for code, or a file that loses most of itself. */
import { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { Wanted } from '../../../text/edit-ladder.ts';
import { lineFeeds } from '../../../text/line-diff.ts';
import type { TextChange } from '../../../text/text-change.ts';

const COMMENT = String.raw`^\s*(?://|#|/\*+|<!--|--|;|%|\*|\{/\*)\s*`;
const REST = '(?:rest of|remaining|existing|other|previous|unchanged|same as before|keep the)';
const CODE = '(?:code|file|function|class|method|implementation|content|lines|imports|logic|body|stays?|remains?|here)';
/** `// ... existing code ...`, `# rest of the file unchanged`, `... (unchanged)`. A bare `...` is Python. */
const PLACEHOLDERS = [
  new RegExp(String.raw`${COMMENT}(?:\.{3}|…)\s*\(?\s*${REST}\b`, 'i'),
  new RegExp(
    String.raw`${COMMENT}\(?\s*${REST}\s+(?:of\s+)?(?:the\s+|your\s+)?${CODE}\b.*(?:unchanged|same|here|\.{3}|…|as before)`,
    'i',
  ),
  new RegExp(String.raw`^\s*(?:\.{3}|…)\s*\(?\s*${REST}\b`, 'i'),
];

/** A line that was there before is no placeholder of this edit. */
export function refusePlaceholder({ old, new: text }: Wanted, { path, edit }: { path: string; edit: number }): void {
  const before = new Set(old.split('\n').map((line) => line.trim()));
  const found = text
    .split('\n')
    .find((line) => !before.has(line.trim()) && PLACEHOLDERS.some((pattern) => pattern.test(line.slice(0, 300))));
  if (found === undefined) return;
  throw new ToolError(
    'E_VALIDATION_FAIL',
    `Edit ${edit} of ${path} writes a placeholder in place of code: ${safeText(found, 120)}`,
    {
      path,
      details: {
        edit,
        reason: 'placeholder',
        next: 'Write out the lines it stands for, or make old smaller so that they are not part of the edit; nothing was changed',
      },
    },
  );
}

const MIN_LOST_LINES = 50;

/** More than half of a file goes, and something else stays in its place: often an answer that was cut off. */
export function refuseShrinking({ before, start, end, text }: TextChange, path: string): void {
  const lost = lineFeeds(before, start, end) - lineFeeds(text, 0, text.length);
  if (lost < MIN_LOST_LINES) return;
  const had = lineFeeds(before, 0, before.length) + 1;
  const has = had - lost;
  if (has > had / 2) return;
  throw new ToolError('E_VALIDATION_FAIL', `File would shrink from ${had} to ${has} lines: ${path}`, {
    path,
    details: { reason: 'shrinks', next: 'Set allow_shrink to true if those lines are to go; nothing was changed' },
  });
}
