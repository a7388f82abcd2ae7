/**
 * The language servers of one session: the known ones, as the registry's `providers` changes them, plus its own.
 *
 * The same table also holds analyzers. An entry is ours when it bears a known server's name or says `kind: lsp`; one
 * that says another kind is left alone, regardless of its name.
 */
import { type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { KNOWN_PROVIDERS, type LspProvider } from './known-providers.ts';
import type { ReadyStrategy } from './ready-strategy.ts';

const text = z.string().min(1).max(4096);
const jsonObject = z.record(z.string(), z.json());
const milliseconds = z.int().min(0).max(600_000);

const readySchema = z.discriminatedUnion('strategy', [
  z.strictObject({ strategy: z.literal('immediate') }),
  z.strictObject({
    strategy: z.literal('progress-idle'),
    quiet_ms: milliseconds.default(300),
    grace_ms: milliseconds.default(5_000),
  }),
  z.strictObject({
    strategy: z.literal('log-match'),
    lines: z.array(text).min(1).max(20),
    rescan_ms: milliseconds.default(3_000),
  }),
  z.strictObject({ strategy: z.literal('status-quiescent') }),
]);

/** What the registry may say about one server. Everything but a new server's command and documents is optional. */
export const lspProviderSchema = z.strictObject({
  kind: z.literal('lsp').optional(),
  enabled: z.boolean().default(true).describe('False: never started'),
  command: z
    .string()
    .regex(/^[^/\s\0]+$/, 'the bare name of a program, without a folder')
    .optional(),
  args: z.array(z.string().max(4096)).max(100).optional(),
  languages: z.array(text).min(1).optional().describe('Ids of language profiles'),
  documents: z
    .record(z.string().regex(/^\.[^/\0]+$/, 'how a file name ends, from its dot on'), text)
    .optional()
    .describe('How a file name ends → language id of the protocol'),
  root_markers: z.array(z.string().regex(/^[^/\0]+$/, 'a file name without a folder')).optional(),
  initialization_options: jsonObject.optional(),
  settings: jsonObject.optional().describe('Answers to workspace/configuration, by section'),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(32_768)).optional(),
  ready: readySchema.optional(),
  memory_mb: z.int().min(64).max(1_048_576).optional(),
});

type Given = z.output<typeof lspProviderSchema>;

const NEW_SERVER = {
  args: [],
  rootMarkers: [],
  initializationOptions: {},
  settings: {},
  env: {},
  ready: { kind: 'immediate' },
  memoryMb: 2048,
} as const satisfies Partial<LspProvider>;

/** In order of preference: what the registry adds comes first. Throws E_VALIDATION_FAIL naming the first wrong entry. */
export function resolveProviders(registry: Readonly<Record<string, JsonValue>> = {}): readonly LspProvider[] {
  const known = KNOWN_PROVIDERS.flatMap((provider) => {
    const entry = registry[provider.name];
    if (entry === undefined || !isOurs(entry, provider.name)) return [provider];
    const given = parseEntry(provider.name, entry);
    return given.enabled ? [{ ...provider, ...changesOf(given) }] : [];
  });
  const names = new Set(KNOWN_PROVIDERS.map(({ name }) => name));
  const added = Object.entries(registry).flatMap(([name, entry]) => {
    if (names.has(name) || !isOurs(entry, name)) return [];
    const given = parseEntry(name, entry);
    return given.enabled ? [newServer(name, given)] : [];
  });
  return [...added, ...known];
}

function isOurs(entry: JsonValue, name: string): boolean {
  const kind = typeof entry === 'object' && entry !== null && 'kind' in entry ? entry['kind'] : undefined;
  return kind === undefined ? KNOWN_PROVIDERS.some((provider) => provider.name === name) : kind === 'lsp';
}

function parseEntry(name: string, entry: JsonValue): Given {
  const parsed = lspProviderSchema.safeParse(entry);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(['providers', name, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'not valid');
}

function newServer(name: string, given: Given): LspProvider {
  const { command, documents } = given;
  if (command === undefined) throw invalid(`providers.${name}.command`, 'a new server needs a command');
  if (documents === undefined) throw invalid(`providers.${name}.documents`, 'a new server needs documents');
  const languages = given.languages ?? [...new Set(Object.values(documents))];
  const install = `install ${command} and show its folder to commands`;
  return { ...NEW_SERVER, install, ...changesOf(given), name, command, documents, languages };
}

function changesOf(given: Given): Partial<LspProvider> {
  return {
    ...(given.command === undefined ? {} : { command: given.command }),
    ...(given.args === undefined ? {} : { args: given.args }),
    ...(given.languages === undefined ? {} : { languages: given.languages }),
    ...(given.documents === undefined ? {} : { documents: given.documents }),
    ...(given.root_markers === undefined ? {} : { rootMarkers: given.root_markers }),
    ...(given.initialization_options === undefined
      ? {}
      : { initializationOptions: given.initialization_options as JsonObject }),
    ...(given.settings === undefined ? {} : { settings: given.settings as JsonObject }),
    ...(given.env === undefined ? {} : { env: given.env }),
    ...(given.ready === undefined ? {} : { ready: readyStrategy(given.ready) }),
    ...(given.memory_mb === undefined ? {} : { memoryMb: given.memory_mb }),
  };
}

function readyStrategy(given: z.output<typeof readySchema>): ReadyStrategy {
  switch (given.strategy) {
    case 'progress-idle':
      return { kind: 'progress-idle', quietMs: given.quiet_ms, graceMs: given.grace_ms };
    case 'log-match':
      return { kind: 'log-match', lines: given.lines, rescanMs: given.rescan_ms };
    default:
      return { kind: given.strategy };
  }
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
