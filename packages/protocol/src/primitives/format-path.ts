/** Where in a JSON value something is, as a person would write it: `args.items[2]["odd key"]`. Bounded in length. */
import { clipText, MAX_ECHO_LENGTH } from './clip-text.ts';

const MAX_SEGMENTS = 16;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

export function formatPath(segments: readonly PropertyKey[]): string {
  const shown = segments.slice(0, MAX_SEGMENTS).map(formatSegment).join('');
  const path = shown.startsWith('.') ? shown.slice(1) : shown;
  return segments.length > MAX_SEGMENTS ? `${path}…` : path;
}

function formatSegment(segment: PropertyKey): string {
  if (typeof segment === 'number') return `[${segment}]`;
  const name = String(segment);
  return name.length <= MAX_ECHO_LENGTH && IDENTIFIER.test(name) ? `.${name}` : `[${clipText(name)}]`;
}
