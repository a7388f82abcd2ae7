/**
 * The HTTP client of one mounted server: its own origin, which the operator wrote, and beyond it (authorization servers)
 * only hosts of the registry's allowlist. Redirects are followed within an origin only; answers are bounded.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import { ToolError } from '@tool-runtime/protocol';
import { judgeCredentials, judgeUrl } from '@tool-runtime/sdk/parts';

export interface FetchLimits {
  readonly origin: string;
  readonly allowedDomains: readonly string[];
  /** Hosts that may be sent credentials over plain http. */
  readonly insecureCredentials: readonly string[];
  /** What the embedding program allows in addition. */
  allows?(url: URL): boolean;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export function guardedFetch({
  origin,
  allowedDomains,
  insecureCredentials,
  allows = () => false,
}: FetchLimits): FetchLike {
  return async (target, init) => {
    const url = new URL(target);
    if (url.origin !== origin && !allows(url)) judgeUrl(url.href, allowedDomains);
    if (!allows(url)) judgeCredentials(url, credentialsOf(init), insecureCredentials);
    // Followed by the MCP client, within an origin; redirects are not checked here.
    return boundedAnswer(await fetch(url, { ...init, redirect: 'manual' }));
  };
}

/** Headers, and a form: only token endpoints are sent one, and it holds a secret, a code or a token. */
function credentialsOf(init: Parameters<FetchLike>[1]): ReadonlyMap<string, string> {
  const headers = new Map(new Headers(init?.headers));
  const isForm =
    init?.body instanceof URLSearchParams || headers.get('content-type')?.includes('form-urlencoded') === true;
  return isForm ? headers.set('authorization', 'form') : headers;
}

function boundedAnswer(answer: Response): Response {
  if (answer.body === null) return answer;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) controller.error(tooLarge());
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers, url } = answer;
  const bounded = new Response(answer.body.pipeThrough(counter), { status, statusText, headers });
  // What the client compares redirects with; a constructed answer has none.
  Object.defineProperty(bounded, 'url', { value: url });
  return bounded;
}

function tooLarge(): ToolError {
  return new ToolError('E_HTTP', `Answer of the MCP server is larger than ${MAX_ANSWER_BYTES} bytes`, {
    details: { reason: 'answer_too_large', next: 'ask for less at once' },
  });
}
