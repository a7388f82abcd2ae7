/** Text from outside, fitted to a place in a draft. */
import type { Draft } from './draft.ts';
import { refuseEdit } from './edit-failures.ts';
import { fitBlock, trimBlock } from './fit-block.ts';
import { frozenRows } from './syntax-node.ts';

/** Without indentation of its first line. Throws E_AST_EDIT for text that is blank. */
export function newText(draft: Draft, text: string, indent: string): string {
  const trimmed = trimBlock(text);
  if (trimmed === '') {
    throw refuseEdit('empty_text', 'New text is empty', { path: 'text', next: 'use delete_symbol to remove code' });
  }
  return fitBlock(trimmed, { indent, style: draft.style, frozen: frozenRows(draft, trimmed) });
}
