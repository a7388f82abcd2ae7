/** The cassette of a runtime: its file is read before anything is opened, and its tools stand in for those of sources in replay. */
import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { ToolError } from '@tool-runtime/protocol';
import type { Cassette } from './contracts/cassette.ts';
import type { AnyTool } from './contracts/tool.ts';
import type { OpenToolSource } from './contracts/tool-source.ts';
import type { CheckedOptions } from './runtime-options.ts';

export interface Tape {
  /** Instead of the sources of the runtime, which are not opened. */
  readonly source: OpenToolSource | undefined;
  /** `tools`: those of the sources. */
  start(tools: readonly AnyTool[]): { readonly cassette: Cassette | undefined; newId(): string };
}

/** The code behind it is loaded only for a runtime that has one. */
export async function openTape(
  { cassette: options, ports }: CheckedOptions,
  { own, ...folders }: { readonly own: readonly AnyTool[]; readonly workspace: string; readonly state: string },
): Promise<Tape> {
  const newId = ports?.newId ?? randomUUID;
  if (options === undefined) return { source: undefined, start: () => ({ cassette: undefined, newId }) };
  const [{ loadCassette }, { keepTool, recalledTool }] = await Promise.all([
    import('./cassette/open-cassette.ts'),
    import('./cassette/kept-tools.ts'),
  ]);
  const loaded = loadCassette(options);
  refuseTaken(loaded.tools ?? [], { own, file: options.file });
  const ours = new Set<string>();
  const setting = { folders: { ...folders, home: homedir() }, isOurs: (id: string) => ours.has(id) };
  return {
    source: loaded.tools && { tools: loaded.tools.map(recalledTool), warnings: [], close: async () => {} },
    start: (tools) => ({
      cassette: loaded.start(setting, tools.map(keepTool)),
      newId() {
        const id = newId();
        ours.add(id);
        return id;
      },
    }),
  };
}

/** A cassette may bring tools of sources, and never in place of one that is here. */
function refuseTaken(
  tools: readonly { readonly name: string }[],
  { own, file }: { readonly own: readonly AnyTool[]; readonly file: string },
): void {
  const names = new Set(own.map(({ name }) => name));
  for (const { name } of tools) {
    if (names.has(name)) {
      throw new ToolError('E_VALIDATION_FAIL', `Cassette is invalid, ${file}:1: tool is there already: ${name}`, {
        path: file,
        details: { gate: 'cassette', reason: 'invalid_cassette', line: 1, next: 'record it again' },
      });
    }
    names.add(name);
  }
}
