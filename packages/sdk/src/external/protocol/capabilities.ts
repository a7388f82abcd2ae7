/** What a tool says of itself, read with the protocol's defaults: it needs a pack and no network unless it says so. */
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ToolCapabilities } from '../../contracts/external.ts';
import { parseResult } from './parse-result.ts';
import { EXTERNAL_LIMITS, PROTOCOL_VERSION } from './protocol-constants.ts';

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

/** Throws E_VALIDATION_FAIL with `details.reason`; fields nobody knows are passed over. */
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
