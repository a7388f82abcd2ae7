/** An error in words a model can act on: what, where, which rule, which line of the registry, what to do instead. */
import type { ErrorEntry } from './errors.ts';

const LABELS = [
  ['rule', 'rule'],
  ['decided by', 'registry'],
  ['next', 'next'],
] as const;

export function describeError({ code, message, path, details = {} }: ErrorEntry): string {
  const { line } = details;
  const place = path !== undefined && typeof line === 'number' ? [`at: ${path}:${line}`] : [];
  const lines = LABELS.flatMap(([label, key]) => {
    const value = details[key];
    return typeof value === 'string' ? [`${label}: ${value}`] : [];
  });
  return [`${code}: ${message}`, ...place, ...lines].join('\n');
}
