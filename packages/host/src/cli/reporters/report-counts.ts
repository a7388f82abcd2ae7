/** How many violations of each level a report holds. */
import type { ValidationReport, ViolationLevel } from './report.ts';

export type LevelCounts = Readonly<Record<ViolationLevel, number>>;

export function countLevels({ violations }: ValidationReport): LevelCounts {
  const counts = { blocking: 0, warning: 0, suggestion: 0 };
  for (const { level } of violations) counts[level]++;
  return counts;
}
