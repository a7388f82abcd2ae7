/** One thing that is wrong with the tree: what, where, and what to do about it. */

export interface Finding {
  readonly level: 'fail' | 'warn';
  readonly check: string;
  readonly file: string;
  readonly line?: number;
  readonly what: string;
  readonly next: string;
}

export function formatFinding(finding: Finding): string {
  const where = finding.line === undefined ? finding.file : `${finding.file}:${finding.line}`;
  return `${finding.level} [${finding.check}] ${where}\n     ${finding.what}\n     → ${finding.next}`;
}
