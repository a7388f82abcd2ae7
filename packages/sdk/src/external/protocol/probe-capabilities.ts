/**
 * Asks a tool what it can do: `--capabilities`, without network, run folder or anything of the host's.
 *
 * An answer that cannot be used is no error: the wrapper then assumes the careful thing.
 */
import { ToolError, toToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ExternalToolSettings, ToolCapabilities } from '../../contracts/external.ts';
import type { ExternalPrograms, ExternalStart } from '../../platform/commands/external-process.ts';
import { EXTERNAL_LIMITS, PROTOCOL_VERSION } from './protocol-constants.ts';
import { parseResult } from './read-result.ts';
import { runRefusal } from './run-status.ts';
import { probeEnvironment, type ToolEnvironmentSetting } from './tool-environment.ts';

interface ProbeSetting extends ToolEnvironmentSetting {
  readonly settings: ExternalToolSettings;
  readonly sealed: ExternalStart['sealed'];
  readonly programs: ExternalPrograms;
  readonly signal: AbortSignal;
}

export type Probe =
  | { readonly capabilities: ToolCapabilities; readonly problem?: never }
  | {
      readonly capabilities?: never;
      readonly problem: string;
      /** The answer is one of the protocol, and it is about another tool or another version of the protocol. */
      readonly isOther?: true;
    };

/** Throws the signal's reason, and E_POLICY when no sandbox can be set up. */
export async function probeCapabilities(setting: ProbeSetting): Promise<Probe> {
  const { settings, sealed, programs, signal } = setting;
  const flood = new AbortController();
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const asking = programs.run({
    sealed,
    interpreter: settings.interpreter,
    args: ['--capabilities'],
    writable: false,
    network: false,
    signal: AbortSignal.any([signal, late.signal, flood.signal]),
    // Its own time: how long the sandbox takes on a busy machine says nothing about the tool.
    onStarted() {
      timer = setTimeout(() => late.abort(), EXTERNAL_LIMITS.capabilitiesMs);
    },
    environment: (places) => probeEnvironment(setting, places),
    onOutput(stream, chunk) {
      if (stream !== 'stdout') return;
      bytes += chunk.length;
      if (bytes > EXTERNAL_LIMITS.capabilitiesBytes) flood.abort();
      else chunks.push(chunk);
    },
  });
  const end = await asking.finally(() => clearTimeout(timer));
  if (signal.aborted) throw signal.reason;
  if (flood.signal.aborted) return { problem: `more than ${EXTERNAL_LIMITS.capabilitiesBytes} bytes` };
  if (late.signal.aborted) return { problem: `no answer within ${EXTERNAL_LIMITS.capabilitiesMs} ms` };
  if (end.code !== 0) return { problem: `exit code ${end.code ?? end.signal}` };
  return readAnswer(Buffer.concat(chunks), settings.name);
}

const OTHER: ReadonlySet<string> = new Set(['other_tool', 'protocol_version']);

/** A tool that is pinned is the one its answer says it is. Throws a refusal. */
export function refuseOther({ isOther, problem }: Probe & { readonly isOther?: true }, name: string): void {
  if (isOther !== true) return;
  throw runRefusal('VERIFICATION_FAILED', {
    message: `${problem}: ${name}`,
    reason: 'other_tool',
    next: 'fix command or name in the registry, or the answer of the tool to --capabilities',
  });
}

function readAnswer(answer: Uint8Array, tool: string): Probe {
  try {
    return { capabilities: parseCapabilities(answer, tool) };
  } catch (thrown) {
    const { message, details } = toToolError(thrown);
    const isOther = OTHER.has(String(details['reason']));
    return { problem: message, ...(isOther ? { isOther } : {}) };
  }
}

const text = z.string().max(1024);
const list = z.array(text).max(100);

const shape = z.object({
  name: text,
  version: text.default(''),
  protocol_version: z.int().default(PROTOCOL_VERSION),
  description: z.string().optional(),
  requires_pack: z.boolean().default(true),
  network: z.boolean().default(false),
  requires_tools: list.nullish().transform((names) => names ?? []),
  requires_outputs: list.nullish().transform((paths) => paths ?? []),
  publisher: text.optional(),
  repo: text.optional(),
  signing_identity: text.optional(),
  commands: list.optional().catch(undefined),
});

/**
 * Reads a tool's answer with the protocol's defaults: by default it needs a pack and no network. Throws
 * E_VALIDATION_FAIL with `details.reason`; unknown fields are ignored.
 */
export function parseCapabilities(bytes: Uint8Array, tool: string): ToolCapabilities {
  const parsed = shape.safeParse(parseResult(bytes, EXTERNAL_LIMITS.capabilitiesBytes));
  if (!parsed.success) throw unusable('Capabilities are not valid', 'invalid_capabilities');
  const { name, protocol_version: version } = parsed.data;
  if (name !== tool) throw unusable('Capabilities are those of another tool', 'other_tool');
  if (version < 1 || version > PROTOCOL_VERSION) {
    throw unusable(`Protocol version is not supported: ${version}`, 'protocol_version');
  }
  return definedOnly(parsed.data) as unknown as ToolCapabilities;
}

function definedOnly(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined));
}

function unusable(message: string, reason: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { details: { reason } });
}
