/** One run of an analyzer: its findings in one form, each with the declaration it is about. */
import { isToolError, type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '@tool-runtime/sdk';
import { z } from 'zod';
import type { AnalyzerFinding } from '../../analyze/analyzer-adapter.ts';
import { unknownAnalyzer } from '../../analyze/analyzer-failures.ts';
import { createAnalyzerRunner } from '../../analyze/analyzer-runner.ts';
import type { CodeIndex, QueryNode } from '../../contracts/code-index-contract.ts';
import type { CodeServices } from '../../plugin/code-services.ts';
import { isGranted } from '../../plugin/granted-providers.ts';
import { analyzerSettings } from './analyzer-settings.ts';

const paramsSchema = z.strictObject({
  paths: z.array(z.string().min(1)).optional(),
  config: z.string().min(1).optional(),
  timeout_ms: z.int().min(1).max(3_600_000).optional(),
});

/** Files whose declarations are looked up for one answer. */
const MAX_FILES = 500;

export interface AnalyzerCall {
  readonly provider: string;
  readonly params: JsonValue;
}

export async function runAnalyzer(
  { provider, params }: AnalyzerCall,
  services: CodeServices,
  context: ToolContext,
): Promise<JsonObject> {
  const { registry, commands, workspace, signal } = context;
  const { configured, disabled } = analyzerSettings(registry.providers);
  const runner = createAnalyzerRunner({
    commands,
    root: services.ports.root,
    readSource: async (file) => (await workspace.readFile(file, { signal })).bytes,
    redact: context.redact,
    configured,
  });
  const host = services.ports.registry.providers;
  const names = runner.names.filter((name) => !disabled.has(name) && isGranted(name, host, registry.providers));
  if (!names.includes(provider)) throw unknownAnalyzer(provider, names);
  const { paths, config, timeout_ms } = parseParams(params);
  const report = await runner.run({
    provider,
    signal,
    ...(paths === undefined ? {} : { paths }),
    ...(config === undefined ? {} : { config }),
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
  });
  const owners = await ownersOf(report.findings, await services.index());
  return {
    findings: report.findings.map((finding, place) => toWire(finding, owners[place])),
    notes: report.notes.map((note) => ({ ...note })),
    exit_code: report.exitCode,
    network_enforced: report.networkEnforced,
  };
}

function parseParams(params: JsonValue): z.output<typeof paramsSchema> {
  const parsed = paramsSchema.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = ['request', 'params', ...(issue?.path ?? [])].join('.');
  throw new ToolError('E_VALIDATION_FAIL', `Wrong parameters of an analyzer: ${path}`, {
    path,
    details: { reason: issue?.message ?? 'not valid', next: 'give paths, config and timeout_ms, all optional' },
  });
}

function toWire(finding: AnalyzerFinding, owner: string | undefined): JsonObject {
  const { rule, level, message, file, line, col, endLine, endCol, span, fix, docs } = finding;
  return {
    ...{ rule, level, message, file, line, col },
    ...(endLine === undefined ? {} : { end_line: endLine }),
    ...(endCol === undefined ? {} : { end_col: endCol }),
    ...(span === undefined ? {} : { span: { ...span } }),
    ...(docs === undefined ? {} : { docs }),
    ...(owner === undefined ? {} : { node_id: owner }),
    ...(fix === undefined
      ? {}
      : {
          fix: fix.edits.map((edit) => ({
            ...{ file: edit.file, line: edit.startLine, col: edit.startCol },
            ...{ end_line: edit.endLine, end_col: edit.endCol, new_text: edit.newText },
          })),
        }),
  };
}

/** Ids of the innermost declarations around the findings, in their order. */
async function ownersOf(
  findings: readonly AnalyzerFinding[],
  index: CodeIndex,
): Promise<readonly (string | undefined)[]> {
  const nodes = new Map<string, readonly QueryNode[]>();
  for (const { file } of findings) {
    if (!nodes.has(file) && nodes.size < MAX_FILES) nodes.set(file, await nodesOf(file, index));
  }
  return findings.map((finding) => innermost(nodes.get(finding.file) ?? [], finding)?.id);
}

async function nodesOf(file: string, index: CodeIndex): Promise<readonly QueryNode[]> {
  try {
    return index.covers(file) ? await index.nodesOfFile(file) : [];
  } catch (thrown) {
    // A file that cannot be read any more costs the id, not the finding.
    if (!isToolError(thrown)) throw thrown;
    return [];
  }
}

function innermost(nodes: readonly QueryNode[], { line, col }: AnalyzerFinding): QueryNode | undefined {
  const around = nodes.filter(
    (node) =>
      (node.line < line || (node.line === line && node.col <= col)) &&
      (node.end_line > line || (node.end_line === line && node.end_col > col)),
  );
  return around.reduce<QueryNode | undefined>(
    (best, node) => (best === undefined || node.span.start >= best.span.start ? node : best),
    undefined,
  );
}
