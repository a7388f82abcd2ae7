/** What a live listing means for the pins of a server: new and changed definitions wait, equal ones clear what waited. */
import type { Tool } from '@modelcontextprotocol/client';
import { type ReadDefinition, type RefusedDefinition, readDefinition } from './foreign-definition.ts';
import { ownEntry, type ServerPins, type ToolPins } from './pin-file.ts';

export interface RefreshReport {
  readonly server: string;
  /** Names at the server, by what became of them. */
  readonly unchanged: readonly string[];
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly refused: readonly string[];
  /** Approved once and no longer there. */
  readonly gone: readonly string[];
}

export interface Comparison {
  readonly pins: ServerPins;
  readonly report: RefreshReport;
}

const MAX_TOOLS = 512;

export function readListing(listed: readonly Tool[]): readonly (ReadDefinition | RefusedDefinition)[] {
  const seen = new Set<string>();
  return listed.slice(0, MAX_TOOLS).map((tool) => {
    const read = readDefinition(tool);
    if (seen.has(read.name)) return { name: read.name, problem: 'name is listed twice' };
    seen.add(read.name);
    return read;
  });
}

/** `approveNew`: what was never seen counts as approved; what changed never does. */
export function comparePins(
  server: string,
  before: ServerPins,
  listed: readonly Tool[],
  options: { readonly family: 'legacy' | 'modern'; readonly approveNew: boolean },
): Comparison {
  const tools = new Map<string, ToolPins>();
  const report = { server, unchanged: [] as string[], added: [] as string[], changed: [] as string[] };
  const refused: string[] = [];
  for (const read of readListing(listed)) {
    const known = ownEntry(before.tools, read.name);
    if ('problem' in read) {
      refused.push(read.name);
      tools.set(read.name, { ...(known?.approved && { approved: known.approved }), refused: read.problem });
      continue;
    }
    const pin = { digest: read.digest, definition: read.definition };
    if (known?.approved?.digest === read.digest) {
      report.unchanged.push(read.name);
      tools.set(read.name, { approved: known.approved });
    } else if (known?.approved !== undefined) {
      report.changed.push(read.name);
      tools.set(read.name, { approved: known.approved, pending: pin });
    } else {
      report.added.push(read.name);
      tools.set(read.name, options.approveNew && known === undefined ? { approved: pin } : { pending: pin });
    }
  }
  const gone = Object.entries(before.tools).filter(
    ([name, { approved }]) => approved !== undefined && !tools.has(name),
  );
  for (const [name, pin] of gone) tools.set(name, pin);
  return {
    pins: { family: options.family, tools: Object.fromEntries(tools) },
    report: { ...report, refused, gone: gone.map(([name]) => name) },
  };
}
