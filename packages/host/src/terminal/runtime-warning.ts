/** What a runtime says about its registry and its journal, for people. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { showWarning } from './terminal.ts';

export function showRuntimeWarning({ message, details = {} }: ErrorEntry): void {
  const { registry, next } = details;
  const place = typeof registry === 'string' && !message.startsWith(registry) ? `${registry} ` : '';
  showWarning(`${place}${message}${typeof next === 'string' ? ` (${next})` : ''}`);
}
