/** A refusal in words a model can act on: what, which rule, where it stands, what to do instead. */
import type { ErrorEntry } from '@tool-runtime/protocol';

const LABELS = [
  ['rule', 'rule'],
  ['decided by', 'registry'],
  ['next', 'next'],
] as const;

export function describeError({ code, message, details = {} }: ErrorEntry): string {
  const lines = LABELS.flatMap(([label, key]) => {
    const value = details[key];
    return typeof value === 'string' ? [`${label}: ${value}`] : [];
  });
  return [`${code}: ${message}`, ...lines].join('\n');
}
