/** Full name of a variable of the protocol, such as `RUN_DIR`, in a profile. */
import type { ExternalProfile } from '../../contracts/external.ts';

const PREFIXES: Readonly<Record<ExternalProfile, string>> = { neutral: 'TOOL_', epack: 'EPACK_' };

export function variableName(profile: ExternalProfile, name: string): string {
  // The tool's own name and configuration stand under TOOL_ in both profiles, in one of them after the prefix.
  const isTools = profile === 'epack' && (name === 'NAME' || name === 'CONFIG');
  return `${PREFIXES[profile]}${isTools ? 'TOOL_' : ''}${name}`;
}
