/** curl: one HTTP request to an allowed host, redirects followed within the allowlist. Error statuses are answers. */

import { isUtf8 } from 'node:buffer';
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ArtifactStore } from '../../contracts/artifacts.ts';
import type { ByteFilter } from '../../contracts/redaction.ts';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { counted } from '../../present/rows.ts';

const TIMEOUT_MS = 15_000;
const MAX_TIMEOUT_MS = 120_000;
const MAX_BYTES_DEFAULT = 5_242_880;
const MAX_BYTES_LIMIT = 64 * 1024 * 1024;
/** By definition of HTTP these ask and change nothing. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD'];

const args = z.strictObject({
  method: z.string().min(1).max(32).default('GET').describe('HTTP method'),
  url: z.string().min(1).describe('http or https URL of a host in network.allowed_domains'),
  headers: z.record(z.string(), z.string()).default({}).describe('Request headers'),
  body: z.string().nullable().default(null).describe('Request body as text'),
  body_b64: z.base64().exactOptional().describe('Request body as base64, instead of body'),
  body_artifact: z.string().exactOptional().describe('Request body from an artifact, by its handle, instead of body'),
  timeout_ms: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .exactOptional()
    .meta({ default: TIMEOUT_MS })
    .describe('Time for everything: lookup, redirects, body'),
  max_bytes: z
    .int()
    .min(0)
    .max(MAX_BYTES_LIMIT)
    .default(MAX_BYTES_DEFAULT)
    .describe('Bytes of the body to return at most, counted after decompression'),
  as_text: z.boolean().default(false).describe('Also return the body as text when it is valid UTF-8'),
});

const data = z.strictObject({
  status: z.int().describe('HTTP status; 400 and above are answers too'),
  headers: z.record(z.string(), z.string()).describe('Lower-case names; repeated headers joined by commas'),
  body_b64: z.string().describe('The body, decompressed'),
  truncated: z.boolean().describe('True when the body is longer than max_bytes'),
  text: z.string().optional().describe('The body as text, when as_text asks for it and it is valid UTF-8'),
  url: z.string().describe('Where the answer came from, after redirects'),
  redirects: z.array(z.string()).describe('The URLs that were redirected to, in order'),
});

export const curl = defineTool({
  name: 'curl',
  category: 'net',
  title: 'HTTP request',
  summary: 'Send one HTTP request to an allowed host',
  policyNotes:
    'Only hosts in network.allowed_domains, at every one of at most three redirects; private addresses only when listed',
  args,
  data,
  annotations: {
    kind: 'execute',
    side_effect_level: 'network',
    arg_schema: { url_params: ['url'], header_params: ['headers'], required: ['url'] },
    capabilities: { network: ['http'] },
  },
  effect: 'network',
  writes: 'unknown',
  risk: 'high',
  profile: (given) =>
    SAFE_METHODS.includes(given.method.toUpperCase()) && bodiesOf(given).length === 0
      ? { kind: 'fetch', risk: 'medium' }
      : {},
  knownAs: {
    names: ['webfetch', 'fetch'],
    args: { url: 'url' },
  },
  rehearse: 'none',
  timeoutMs: TIMEOUT_MS,
  maxTimeoutMs: MAX_TIMEOUT_MS,
  timeoutArg: 'timeout_ms',
  privateArgs: ['body', 'body_b64', 'headers'],
  measure: ({ body_b64 }) => Buffer.byteLength(body_b64, 'base64'),
  hasLargeAnswers: true,
  present: presentReply,
  async run(given, { http, artifacts, signal, redactOutput }) {
    const { method, url, headers, timeout_ms, max_bytes, as_text } = given;
    const answer = await http.send({
      method,
      url,
      headers,
      body: await requestBody(given, artifacts),
      // Without the argument the call's own limit, which the registry may have set, ends the request through the signal.
      timeoutMs: timeout_ms ?? MAX_TIMEOUT_MS,
      maxBytes: max_bytes,
      signal,
    });
    const body = withoutSecrets(answer.body, redactOutput(), { cut: answer.truncated });
    const text = as_text ? textOf(body, { cut: answer.truncated }) : undefined;
    return {
      status: answer.status,
      headers: { ...answer.headers },
      body_b64: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64'),
      truncated: answer.truncated,
      ...(text === undefined ? {} : { text }),
      url: answer.url,
      redirects: [...answer.redirects],
    };
  },
});

type Bodies = Pick<z.output<typeof args>, 'body' | 'body_b64' | 'body_artifact'>;

function bodiesOf({ body, body_b64, body_artifact }: Bodies): readonly string[] {
  return [body ?? undefined, body_b64, body_artifact].filter((given) => given !== undefined);
}

async function requestBody(given: Bodies, artifacts: ArtifactStore): Promise<Uint8Array | null> {
  if (bodiesOf(given).length > 1) {
    throw new ToolError('E_VALIDATION_FAIL', 'Request has more than one body', {
      path: 'body',
      details: { next: 'give one of body, body_b64 and body_artifact' },
    });
  }
  if (given.body_artifact !== undefined) return artifactBody(given.body_artifact, artifacts);
  if (given.body_b64 !== undefined) return Buffer.from(given.body_b64, 'base64');
  return given.body === null ? null : Buffer.from(given.body);
}

/** A body is sent whole or not at all. */
async function artifactBody(handle: string, artifacts: ArtifactStore): Promise<Uint8Array> {
  const { bytes, totalBytes } = await artifacts.read(handle, { offset: 0, length: MAX_BYTES_LIMIT });
  if (bytes.length === totalBytes) return bytes;
  throw new ToolError('E_VALIDATION_FAIL', `Artifact is too large for a request body: ${totalBytes} bytes`, {
    path: 'body_artifact',
    details: { next: `send at most ${MAX_BYTES_LIMIT} bytes` },
  });
}

/** Before it is base64, where nothing could be taken out any more. What may be half a secret at a cut is left out. */
function withoutSecrets(body: Uint8Array, filter: ByteFilter, { cut }: { readonly cut: boolean }): Uint8Array {
  const clean = filter.push(body);
  const rest = cut ? new Uint8Array(0) : filter.end();
  return rest.length === 0 ? clean : Buffer.concat([clean, rest]);
}

/** Undefined for bytes that are no text. A body that was cut may end inside a character, which is then left out. */
function textOf(bytes: Uint8Array, { cut }: { readonly cut: boolean }): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch {
    // Not UTF-8: the base64 form is the answer.
    return undefined;
  }
}

function presentReply(reply: z.output<typeof data>, { url: asked, max_bytes }: z.output<typeof args>): ToolText {
  const { status, headers, body_b64, text, truncated, url, redirects } = reply;
  const bytes = Buffer.from(body_b64, 'base64');
  const body = text ?? (isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined);
  const type = headers['content-type'] ?? 'no content type';
  const more = truncated ? `; longer than max_bytes ${max_bytes}` : '';
  const via = redirects.length === 0 ? '' : ` after ${counted(redirects.length, 'redirect')}`;
  return {
    head: `HTTP ${status} from ${url}${via}, ${type}, ${bytes.length} bytes${more}${body === undefined ? ', binary' : ''}`,
    parts: body === undefined ? [] : [{ type: 'text', text: body, rest: () => `fetch a smaller page of ${asked}` }],
  };
}
