/**
 * The analyzers of the registry's `providers`. The same table holds language servers: an entry is an analyzer when it says
 * so, or bears the name of a known analyzer that is no server.
 */
import { isJsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ConfiguredAnalyzer } from '../../analyze/analyzer-runner.ts';
import { ANALYZER_FORMATS } from '../../analyze/parse-analysis.ts';
import * as known from '../../analyze/providers/catalog.ts';
import { KNOWN_PROVIDERS } from '../../lsp/known-providers.ts';

const KNOWN_ANALYZERS: readonly string[] = Object.values(known).map(({ name }) => name);
const KNOWN_SERVERS: readonly string[] = KNOWN_PROVIDERS.map(({ name }) => name);

/** What the registry may say about one analyzer. A known one needs nothing but, perhaps, to be switched off. */
export const analyzerSchema = z
  .strictObject({
    kind: z.literal('analyzer').optional(),
    enabled: z.boolean().default(true).describe('False: never run'),
    command: z.array(z.string().min(1).max(4096)).min(1).max(100).optional().describe('Program and its arguments'),
    format: z
      .enum(ANALYZER_FORMATS as [string, ...string[]])
      .optional()
      .describe('How its output is read'),
    timeout_ms: z.int().min(1).max(3_600_000).optional(),
    good_codes: z.array(z.int().min(0).max(255)).min(1).optional().describe('Exit codes after which the output counts'),
    install: z.string().min(1).max(500).optional().describe('What to do where the program is missing'),
  })
  .refine(
    ({ command, format }) => (command === undefined) === (format === undefined),
    'command and format go together',
  );

export interface AnalyzerSettings {
  readonly configured: readonly ConfiguredAnalyzer[];
  readonly disabled: ReadonlySet<string>;
}

/** Throws E_VALIDATION_FAIL naming the first wrong entry. */
export function analyzerSettings(providers: Readonly<Record<string, JsonValue>>): AnalyzerSettings {
  const configured: ConfiguredAnalyzer[] = [];
  const disabled = new Set<string>();
  for (const [name, entry] of Object.entries(providers)) {
    if (!isAnalyzer(name, entry)) continue;
    const given = parseEntry(name, entry);
    if (!given.enabled) disabled.add(name);
    else if (given.command !== undefined && given.format !== undefined) configured.push(toAnalyzer(name, given));
    else if (!KNOWN_ANALYZERS.includes(name)) throw invalid(`providers.${name}.command`, 'a new analyzer needs one');
  }
  return { configured, disabled };
}

function isAnalyzer(name: string, entry: JsonValue): boolean {
  const kind = isJsonObject(entry) ? entry['kind'] : undefined;
  if (kind === 'lsp') return false;
  if (kind === 'analyzer') return true;
  if (kind === undefined && KNOWN_SERVERS.includes(name)) return false;
  if (kind === undefined && KNOWN_ANALYZERS.includes(name)) return true;
  throw invalid(`providers.${name}.kind`, 'say what it is: lsp or analyzer');
}

type Given = z.output<typeof analyzerSchema>;

function parseEntry(name: string, entry: JsonValue): Given {
  const parsed = analyzerSchema.safeParse(entry);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(['providers', name, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'not valid');
}

function toAnalyzer(
  name: string,
  { command = [], format, timeout_ms, good_codes, install }: Given,
): ConfiguredAnalyzer {
  return {
    name,
    command,
    format: format as ConfiguredAnalyzer['format'],
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
    ...(good_codes === undefined ? {} : { goodCodes: good_codes }),
    ...(install === undefined ? {} : { install }),
  };
}

function invalid(field: string, what: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Provider is not valid: ${field}`, {
    path: field,
    details: {
      kind: 'invalid_package',
      retry: 'host_configuration_needed',
      field,
      reason: what,
      next: 'correct the registry',
    },
  });
}
