/**
 * Which request targets are read at all. A path has one spelling here: nothing is decoded, shortened or resolved to see
 * where it might lead, so that whoever guards the host from outside and the host itself never disagree about it.
 */
import { ToolError } from '@tool-runtime/protocol';

/** Letters, digits and marks as they are; anything else percent-encoded. */
const SEGMENT = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;
/** What needs no encoding must not have one. */
const NEEDLESS = /%(?:2[DEde]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee])/;
const RELATIVE: ReadonlySet<string> = new Set(['.', '..']);

/** The refusal, or undefined for a target that is an absolute path and perhaps a query. */
export function judgeTarget(target: string): ToolError | undefined {
  const [path = ''] = target.split('?', 1);
  if (!path.startsWith('/') || target.includes('#')) {
    return new ToolError('E_VALIDATION_FAIL', 'Request target is not a path', {
      details: { reason: 'malformed', next: 'send an absolute path, with neither host nor fragment' },
    });
  }
  const isPlain = path === '/' || path.slice(1).split('/').every(isSegment);
  return isPlain ? undefined : unknownRoute();
}

function isSegment(text: string): boolean {
  return SEGMENT.test(text) && !NEEDLESS.test(text) && !RELATIVE.has(text);
}

export function unknownRoute(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'There is nothing at this path', {
    details: { reason: 'unknown_route', next: 'see GET /openapi.json' },
  });
}
