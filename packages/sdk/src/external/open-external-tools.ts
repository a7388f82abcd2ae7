/** Opens the external tools of one runtime: their definitions, and the sandboxes their runs share. */
import { type ErrorEntry, type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { type ExternalToolSettings, RUN_STATUSES } from '../contracts/external.ts';
import type { Registry } from '../contracts/registry.ts';
import { type AnyTool, defineTool } from '../contracts/tool.ts';
import type { OpenToolSource, ToolSourcePorts } from '../contracts/tool-source.ts';
import {
  createExternalPrograms,
  type ExternalPrograms,
  type ExternalSandbox,
} from '../platform/commands/external-process.ts';
import { packageVersion } from '../platform/package-folder.ts';
import { sweepSealedCopies } from '../platform/runs/sealed-copy.ts';
import { commandEffects } from '../present/command-effects.ts';
import { createRunIds } from './protocol/run-ids.ts';
import type { HostEnvironment } from './protocol/tool-environment.ts';
import { compileInputs } from './run/compile-inputs.ts';
import { copiesFolder, type ExternalPorts } from './run/external-ports.ts';
import type { RunArgs } from './run/prepare-run.ts';

interface ExternalToolsOptions {
  /** Where secrets, identity and CI are looked up. Default: the host's own. */
  readonly environment?: HostEnvironment;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** Throws E_VALIDATION_FAIL when a name is taken. */
export async function openExternalTools(
  ports: ToolSourcePorts,
  options: ExternalToolsOptions,
): Promise<OpenToolSource> {
  const { registry, state, root, lock } = ports;
  const listed = registry.externalTools.filter(({ command }) => command !== '');
  for (const { name } of listed) if (ports.names.has(name)) throw taken(name, registry);
  await sweepSealedCopies(copiesFolder(state));
  const sandboxes = createSandboxes(ports);
  const now = options.now ?? Date.now;
  const shared: ExternalPorts = {
    state,
    root,
    lock,
    environment: options.environment ?? process.env,
    wrapperVersion: packageVersion(),
    ids: createRunIds(now),
    now,
    probed: new Map(),
    programsFor: sandboxes.programsFor,
  };
  return {
    tools: listed.map((settings) => externalTool(settings, shared)),
    warnings: registry.externalTools.filter(({ command }) => command === '').map((tool) => noCommand(tool, registry)),
    close: sandboxes.close,
  };
}

/** One sandbox for each tool and what a session's registry makes of it. */
export function createSandboxes({
  workspace,
  state,
  governing,
}: Pick<ExternalSandbox, 'workspace' | 'state' | 'governing'>) {
  const sandboxes = new Map<string, ExternalPrograms>();
  return {
    programsFor(settings: ExternalToolSettings, { isolation, allowedDomains, durability }: Registry): ExternalPrograms {
      const readPaths = [
        ...settings.read_paths,
        ...settings.interpreter.slice(0, 1).filter((path) => path.startsWith('/')),
      ];
      const key = JSON.stringify([readPaths, isolation, allowedDomains]);
      const known = sandboxes.get(key);
      if (known !== undefined) return known;
      const made = createExternalPrograms({
        ...{ workspace, state, isolation, allowedDomains, durability, readPaths, governing },
      });
      sandboxes.set(key, made);
      return made;
    },
    async close(): Promise<void> {
      await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close()));
    },
  };
}

function place(name: string, registry: Registry) {
  const spot = registry.spot(`external_tools.${name}`);
  return spot === undefined ? {} : { registry: `${spot.file}:${spot.line}` };
}

function taken(name: string, registry: Registry): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Name of the external tool is taken: ${name}`, {
    path: 'external_tools',
    details: { ...place(name, registry), next: 'give it another name' },
  });
}

function noCommand({ name }: ExternalToolSettings, registry: Registry): ErrorEntry {
  return {
    code: 'E_POLICY',
    message: `External tool has no command: ${name}`,
    path: 'external_tools',
    details: {
      ...place(name, registry),
      next: 'give it one; a name alone only keeps a tool in a registry that narrows another',
    },
  };
}

const MAX_WORDS = 256;
const WORD = /^[^\u0000]{0,8192}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

const entries = z.array(
  z.looseObject({
    code: z.string(),
    message: z.string(),
    path: z.string().optional(),
    details: z.unknown().optional(),
  }),
);

const data = z.strictObject({
  run_id: z.string().describe('Names the run and sorts by time'),
  run_dir: z.string().describe('Folder of the run, relative to the state folder'),
  status: z.enum(RUN_STATUSES),
  exit_code: z.int(),
  tool_exit_code: z.int().nullable().describe('As the tool ended; null when it never ran'),
  outputs: z.array(
    z.strictObject({
      path: z.string().describe('Relative to the run folder'),
      media_type: z.string(),
      digest: z.string(),
      bytes: z.int(),
      artifact: z.string().optional().describe('Handle for artifact_read'),
    }),
  ),
  errors: entries,
  warnings: entries,
  stdout: z.string().describe('Without lines that announced progress'),
  stderr: z.string(),
  truncated: z
    .boolean()
    .describe('A stream was longer than 5 MiB: its middle is left out here, the artifact has it all'),
  stdout_artifact: z.string().optional().describe('Handle of the whole stream for artifact_read, from 16 KiB on'),
  stderr_artifact: z.string().optional(),
  run_digest: z.string().describe('Equal for runs that did the same'),
  network_enforced: z.boolean().describe('False when the isolation cannot keep the tool off the network'),
  effects: commandEffects.optional().describe('What it changed in the workspace; only when it ran on an overlay'),
});

/** An external tool as a tool of the runtime: same gates, same journal; its executor is the wrapper. */
function externalTool(settings: ExternalToolSettings, ports: ExternalPorts): AnyTool {
  const { name, kind, side_effect_level, network } = settings;
  return defineTool({
    name,
    category: 'external',
    title: name,
    summary: settings.summary,
    policyNotes: 'A program of its own, run as a sealed copy of what the lock pins, in the sandbox',
    args: argsOf(settings),
    argsJsonSchema: argsSchemaOf(settings),
    data,
    annotations: {
      kind,
      side_effect_level,
      arg_schema: { path_params: settings.requires_pack === false ? [] : ['pack'] },
      capabilities: { process: ['exec'], ...(network ? { network: ['http'] } : {}) },
      emits_artifacts: true,
      result_readers: ['artifact_read'],
    },
    effect: network ? 'network' : 'process',
    writes: 'unknown',
    risk: 'high',
    idempotent: false,
    rehearse: 'none',
    timeoutMs: settings.timeout_ms,
    hiddenBy: (registry) => notListed(name, registry),
    recordDetails: () => ({ external_tool: name }),
    measure: ({ stdout, stderr }) => stdout.length + stderr.length,
    async recordRefusal(refusal) {
      const { recordRefused } = await import('./run/record-refused.ts');
      await recordRefused(refusal, { settings, ports });
    },
    async run(args, context) {
      const { runExternal } = await import('./run/run-external.ts');
      const answer = await runExternal({ settings, ports, args: args as RunArgs, context });
      return answer as unknown as z.output<typeof data>;
    },
  });
}

const word = z.string().regex(WORD);

function argsOf(settings: ExternalToolSettings): z.ZodObject {
  return z.strictObject({
    args: z.array(word).max(MAX_WORDS).optional().describe('Words for the tool'),
    ...(settings.requires_pack === false ? {} : packArgs()),
    ...(settings.args_schema === undefined ? {} : { inputs: inputsOf(settings.args_schema) }),
  });
}

function packArgs() {
  return {
    pack: z.string().min(1).optional().describe('File the tool works on, relative to the workspace root'),
    pack_digest: z.string().regex(DIGEST).optional().describe('Digest the pack must have'),
  };
}

/** Checked also when left out: something in it may be required. */
function inputsOf(schema: JsonObject) {
  const check = compileInputs(schema);
  return z
    .record(z.string(), z.unknown())
    .superRefine((inputs, context) => {
      for (const { path, message } of check(inputs as JsonValue)) {
        context.addIssue({ code: 'custom', path: [...path], message });
      }
    })
    .prefault({});
}

function argsSchemaOf(settings: ExternalToolSettings): JsonObject {
  const shown = z.toJSONSchema(argsOf(settings), { io: 'input' }) as JsonObject;
  const { args_schema: inputs } = settings;
  if (inputs === undefined) return shown;
  const isNeeded = Array.isArray(inputs['required']) && inputs['required'].length > 0;
  return {
    ...shown,
    properties: { ...(shown['properties'] as JsonObject), inputs },
    ...(isNeeded ? { required: ['inputs'] } : {}),
  };
}

/** By the registry of the session, which may be narrower than the runtime's. */
function notListed(name: string, { externalTools }: Registry): ToolError | undefined {
  if (externalTools.some((tool) => tool.name === name)) return undefined;
  return new ToolError('E_POLICY', `External tool is not listed here: ${name}`, {
    details: { gate: 'route', reason: 'external_tool_not_listed', field: 'external_tools' },
  });
}
