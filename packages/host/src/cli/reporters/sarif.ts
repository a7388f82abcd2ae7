/**
 * SARIF 2.1.0, the form code hosts and editors take findings in.
 *
 * Fingerprints leave the line out, so that a finding stays the same one when code above it grows; equal findings in one
 * file are told apart by their order.
 */
import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import { hostVersion } from '../../ops/host-version.ts';
import { plainJson } from '../../terminal/terminal.ts';
import type { ReportedRule, ReportedViolation, Reporter, ValidationReport } from './report.ts';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const ROOT = '%SRCROOT%';
const FINGERPRINT = 'toolRuntime/v1';

export const sarif: Reporter = {
  name: 'sarif',
  render: (report) => `${plainJson(JSON.stringify(sarifLog(report), null, 2))}\n`,
};

function sarifLog(report: ValidationReport): JsonObject {
  const rules = describedRules(report);
  const { files, duration_ms, scope } = report;
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'tool-runtime', semanticVersion: hostVersion(), rules: rules.map(toDescriptor) } },
        invocations: [{ executionSuccessful: true }],
        originalUriBaseIds: { [ROOT]: { description: { text: 'Root of the workspace' } } },
        columnKind: 'utf16CodeUnits',
        results: toResults(report.violations, new Map(rules.map(({ id }, index) => [id, index]))),
        properties: { scope, files, duration_ms },
      },
    ],
  };
}

type DescribedRule = Pick<ReportedRule, 'id' | 'level' | 'description'> & { readonly status?: string };

/** Every rule a result names has a description, listed or not. */
function describedRules({ rules, violations }: ValidationReport): readonly DescribedRule[] {
  const all = new Map<string, DescribedRule>(rules.map((rule) => [rule.id, rule]));
  for (const { rule: id, level } of violations) if (!all.has(id)) all.set(id, { id, level, description: '' });
  return [...all.values()];
}

function toDescriptor({ id, level, description, status }: DescribedRule): JsonObject {
  return {
    id,
    shortDescription: { text: description === '' ? id : description },
    defaultConfiguration: { level: sarifLevel(level) },
    ...(status === undefined ? {} : { properties: { status } }),
  };
}

function sarifLevel(level: string): string {
  if (level === 'blocking') return 'error';
  return level === 'suggestion' ? 'note' : 'warning';
}

function toResults(violations: readonly ReportedViolation[], ruleIndex: ReadonlyMap<string, number>): JsonObject[] {
  const seen = new Map<string, number>();
  return violations.map((violation) => {
    const { rule, level, message, next } = violation;
    const edits = readEdits(violation);
    return {
      ruleId: rule,
      ruleIndex: ruleIndex.get(rule) ?? -1,
      level: sarifLevel(level),
      message: { text: next === undefined ? message : `${message}\nNext: ${next}` },
      ...placeOf(violation),
      partialFingerprints: { [FINGERPRINT]: fingerprint(violation, seen) },
      ...(edits === undefined ? {} : { fixes: [toFix(edits, next)] }),
    };
  });
}

function placeOf({ path, line }: ReportedViolation): JsonObject {
  if (path === undefined) return {};
  const region = line === undefined || line < 1 ? {} : { region: { startLine: line } };
  return { locations: [{ physicalLocation: { artifactLocation: artifact(path), ...region } }] };
}

function artifact(path: string): JsonObject {
  const uri = path.toWellFormed().split('/').map(encodeURIComponent).join('/');
  return { uri, uriBaseId: ROOT };
}

function fingerprint({ rule, path, message }: ReportedViolation, seen: Map<string, number>): string {
  const subject = JSON.stringify([rule, path ?? null, message]);
  const nth = seen.get(subject) ?? 0;
  seen.set(subject, nth + 1);
  return createHash('sha256').update(`${subject}${nth}`).digest('hex');
}

function toFix(edits: readonly FixEdit[], next: string | undefined): JsonObject {
  const byFile = Map.groupBy(edits, ({ file }) => file);
  return {
    ...(next === undefined ? {} : { description: { text: next } }),
    artifactChanges: [...byFile].map(([file, changes]) => ({
      artifactLocation: artifact(file),
      replacements: changes.map(toReplacement),
    })),
  };
}

function toReplacement({ startLine, startColumn, endLine, endColumn, newText }: FixEdit): JsonObject {
  const columns = startColumn === undefined || endColumn === undefined ? {} : { startColumn, endColumn };
  return { deletedRegion: { startLine, endLine, ...columns }, insertedContent: { text: newText } };
}

interface FixEdit {
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly startColumn?: number;
  readonly endColumn?: number;
  readonly newText: string;
}

/**
 * The form of a fix that is an edit: `{ edits: [{ file?, start_line, start_col?, end_line?, end_col?, new_text }] }`.
 *
 * Lines and columns start at 1, columns count UTF-16 units, ends are exclusive, and without columns whole lines are
 * meant. All edits or none: a fix with one that cannot be read is no edit.
 */
export function readEdits({ fix, path }: Pick<ReportedViolation, 'fix' | 'path'>): readonly FixEdit[] | undefined {
  const list = fix?.['edits'];
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const edits = list.map((entry: JsonValue) => (isJsonObject(entry) ? readEdit(entry, path) : undefined));
  return edits.includes(undefined) ? undefined : (edits as FixEdit[]);
}

function readEdit(entry: JsonObject, path: string | undefined): FixEdit | undefined {
  const { file = path, start_line: startLine, end_line: endLine = startLine, new_text: newText } = entry;
  const { start_col: startColumn, end_col: endColumn } = entry;
  if (typeof file !== 'string' || file === '' || typeof newText !== 'string') return undefined;
  if (!isPlace(startLine) || !isPlace(endLine) || endLine < startLine) return undefined;
  if ((startColumn === undefined) !== (endColumn === undefined)) return undefined;
  if (startColumn === undefined || endColumn === undefined) return { file, startLine, endLine, newText };
  if (!isPlace(startColumn) || !isPlace(endColumn)) return undefined;
  if (startLine === endLine && endColumn < startColumn) return undefined;
  return { file, startLine, endLine, startColumn, endColumn, newText };
}

function isPlace(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}
