/** Which variables of the host may be handed to a tool by name. Values are never looked at here. */

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What the protocol says to the tool, and what makes the loader or a shell run something else. */
const RESERVED = /^(?:EPACK_|TOOL_|LD_|DYLD_|_)/i;
/** Part of the environment every tool gets; another value would move its programs or its temporary files. */
const FIXED = /^(?:PATH|HOME|TMPDIR|SHELL|IFS|ENV|BASH_ENV)$/i;

/** Undefined when the name may be used. */
export function secretNameProblem(name: string): string | undefined {
  if (!NAME.test(name)) return 'Not the name of a variable';
  if (RESERVED.test(name)) return `Name of a secret is reserved: ${name} (not EPACK_, TOOL_, LD_, DYLD_ or _ first)`;
  return FIXED.test(name) ? `Variable is set by the runtime: ${name}` : undefined;
}
