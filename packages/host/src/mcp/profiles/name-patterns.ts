/**
 * Lists of tool names with `*` and `?`, as profiles hold them. They mean what the same words mean in a registry; its
 * other patterns are refused here. Its own matcher would load the whole runtime, and a client that opens a server waits.
 */
import { ToolError } from '@tool-runtime/protocol';

const PATTERN = /^[A-Za-z0-9_.*?-]{1,128}$/;

/** Throws E_VALIDATION_FAIL for anything but names with `*` and `?`. */
export function compileNames(patterns: readonly string[]): (name: string) => boolean {
  const strange = patterns.find((pattern) => !PATTERN.test(pattern));
  if (strange !== undefined) throw badPattern(strange);
  const names = new Set(patterns);
  const wild = patterns.filter((pattern) => /[*?]/.test(pattern));
  return (name) => names.has(name) || wild.some((pattern) => fits(pattern, name));
}

/** Goes back to the last star only, which is enough and takes pattern × name steps at most. */
function fits(pattern: string, name: string): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let place = 0; place < name.length; ) {
    if (pattern[at] === '*') {
      star = at;
      at += 1;
      resume = place;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[place])) {
      at += 1;
      place += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      place = resume;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(at));
}

function badPattern(pattern: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Not a tool name: ${pattern}`, {
    details: { next: 'write names of tools, with * and ? as wildcards' },
  });
}
