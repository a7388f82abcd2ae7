/** Places of inspected files as findings of one rule, without those that a comment switches off. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { Violation } from '@tool-runtime/sdk';
import type { CodeRecord, PlaceKind } from './code-record.ts';
import { isIgnored } from './code-record.ts';
import type { InspectedFile } from './inspect-changes.ts';

export type JudgedKind = Exclude<PlaceKind, 'imports'>;
type PlaceOf<Kind extends JudgedKind> = CodeRecord[Kind][number];

export interface PlaceJudge<Kind extends JudgedKind> {
  readonly rule: string;
  readonly kind: Kind;
  /** What is wrong with each of them. */
  problem(record: CodeRecord): string;
  readonly next: string;
  details?(place: PlaceOf<Kind>): JsonObject;
}

export const MAX_VIOLATIONS = 100;

/** By file and place. */
export function judgePlaces<Kind extends JudgedKind>(
  files: readonly InspectedFile[],
  judge: PlaceJudge<Kind>,
): readonly Violation[] {
  const violations: Violation[] = [];
  const ignored: JsonObject[] = [];
  for (const { file, record } of files) {
    const { path } = file;
    if (record.unknown?.mayHold.includes(judge.kind) === true) violations.push(unjudged(path, record.unknown.reason));
    for (const place of record[judge.kind]) {
      if (isIgnored(judge.rule, place, record.ignored)) ignored.push({ path, line: place.line, name: place.name });
      else violations.push(found(path, { place, problem: judge.problem(record) }, judge));
    }
  }
  return withIgnored(violations.slice(0, MAX_VIOLATIONS), ignored);
}

function found<Kind extends JudgedKind>(
  path: string,
  { place, problem }: { readonly place: PlaceOf<Kind>; readonly problem: string },
  { rule, next, details }: PlaceJudge<Kind>,
): Violation {
  return {
    message: `${problem}: ${place.name} (${path}:${place.line})`,
    path,
    line: place.line,
    next: `${next}, or put a comment above it: sdk-ignore ${rule}`,
    details: { name: place.name, ...details?.(place) },
  };
}

export function unjudged(path: string, reason: string): Violation {
  return {
    message: `File cannot be checked: ${path}`,
    path,
    next: 'make it a text the parser can read, or leave it out of the commit',
    details: { reason },
  };
}

/** Places that were switched off are reported with the findings, so that they are not overlooked. */
export function withIgnored(violations: readonly Violation[], ignored: readonly JsonObject[]): readonly Violation[] {
  const [first, ...rest] = violations;
  if (first === undefined || ignored.length === 0) return violations;
  return [{ ...first, details: { ...first.details, suppressed: ignored.slice(0, MAX_VIOLATIONS) } }, ...rest];
}
