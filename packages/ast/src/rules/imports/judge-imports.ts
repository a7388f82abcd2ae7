/** Imports of the judged files that cross a boundary of the registry. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { RuleContext, Violation } from '@tool-runtime/sdk';
import type { ImportPlace } from '../../inspect/code-record.ts';
import { isIgnored } from '../../inspect/ignore-marks.ts';
import { type InspectedFile, inspectChanges } from '../../inspect/inspect-changes.ts';
import { MAX_VIOLATIONS, unjudged, withIgnored } from '../../inspect/judge-places.ts';
import type { UseServices } from '../../plugin/code-services.ts';
import type { ImportRule } from './import-rule.ts';
import { readJudgedTree } from './judged-tree.ts';
import { type ImportTarget, type ResolveImport, resolveImports } from './resolve-imports.ts';

export interface ImportJudgement {
  readonly rule: string;
  readonly boundaries: readonly ImportRule[];
}

export async function judgeImports(
  { rule, boundaries }: ImportJudgement,
  use: UseServices,
  context: RuleContext,
): Promise<readonly Violation[]> {
  const changes = await context.changeSet();
  const services = use();
  const inspected = await inspectChanges(changes, { services, context });
  const files = inspected.filter(({ file }) => boundaries.some(({ appliesTo }) => appliesTo(file.path)));
  const unknown = files.flatMap(({ file, record }) =>
    record.unknown?.mayHold.includes('imports') === true ? [unjudged(file.path, record.unknown.reason)] : [],
  );
  const importing = files.filter(({ record }) => record.imports.length > 0);
  if (importing.length === 0) return unknown;
  const tree = await readJudgedTree(changes, context, new Set(importing.map(({ file }) => file.path)));
  const resolve = await resolveImports(importing, { tree, engine: await services.engine(), signal: context.signal });
  const ignored: JsonObject[] = [];
  const crossing = importing.flatMap((one) => {
    const found = crossings(one, boundaries, resolve);
    const isOff = ({ line }: Crossing): boolean => isIgnored(rule, { line, from: line }, one.record.ignored);
    ignored.push(...found.filter(isOff).map(({ line, target }) => ({ path: one.file.path, line, name: target.name })));
    return found.filter((crossed) => !isOff(crossed)).map((crossed) => violation(one.file.path, crossed));
  });
  return withIgnored([...unknown, ...crossing].slice(0, MAX_VIOLATIONS), ignored);
}

interface Crossing {
  readonly line: number;
  readonly target: ImportTarget;
  readonly boundary: ImportRule;
}

/** Each place once for each target, however many names are imported there. */
function crossings(
  { file, record }: InspectedFile,
  boundaries: readonly ImportRule[],
  resolve: ResolveImport,
): readonly Crossing[] {
  const found = new Map<string, Crossing>();
  const judging = boundaries.filter(({ appliesTo }) => appliesTo(file.path));
  for (const { source, line, typeOnly } of statements(record.imports)) {
    for (const target of resolve(file.path, source)) {
      const boundary = judging.find(
        ({ countsTypes, permits }) => (countsTypes || !typeOnly) && !permits(target.name, target.isFile),
      );
      if (boundary !== undefined) found.set(`${line} ${target.name}`, { line, target, boundary });
    }
  }
  return [...found.values()];
}

/** A statement imports types only when each of its names is one. */
function statements(imports: readonly ImportPlace[]): readonly ImportPlace[] {
  const joined = new Map<string, ImportPlace>();
  for (const one of imports) {
    const key = `${one.line} ${one.source}`;
    const typeOnly = one.typeOnly && joined.get(key)?.typeOnly !== false;
    joined.set(key, { ...one, typeOnly });
  }
  return [...joined.values()];
}

function violation(path: string, { line, target, boundary }: Crossing): Violation {
  const { message, registry } = boundary;
  return {
    message: `${message}: ${path}:${line} imports ${target.name}`,
    path,
    line,
    next: 'go through what the boundary allows, or move the code; an exception needs a comment: sdk-ignore code.mod.import.rules',
    details: { target: target.name, ...(registry === undefined ? {} : { import_rule: registry }) },
  };
}
