/** A real folder with source files, a real state folder beside it, and a code index over both. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { createWorkspace, openRoot } from '@tool-runtime/sdk/testing';
import type { CodeIndex, CodeIndexOptions, QueryNode } from '../src/contracts/code-index-contract.ts';
import { createCodeIndex } from '../src/index/code-index.ts';

export interface ScratchIndex {
  readonly directory: string;
  readonly state: string;
  readonly workspace: ReturnType<typeof createWorkspace>;
  readonly index: CodeIndex;
  /** As another program would, without a word to the index. */
  put(file: string, text: string | Uint8Array): void;
  /** Through the workspace, as a tool would, and tells the index. */
  write(file: string, text: string): Promise<void>;
  /** A further index, by default on the same state folder. */
  open(options?: Partial<CodeIndexOptions>): CodeIndex;
}

export function scratchIndex(
  t: TestContext,
  files: Readonly<Record<string, string>> = {},
  options: Partial<CodeIndexOptions> = {},
): ScratchIndex {
  const base = mkdtempSync(path.join(tmpdir(), 'code-index-'));
  const [directory, state] = [path.join(base, 'workspace'), path.join(base, 'state')];
  mkdirSync(directory);
  const put = (file: string, text: string | Uint8Array) => {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), text);
  };
  for (const [file, text] of Object.entries(files)) put(file, text);
  const root = openRoot(directory);
  const workspace = createWorkspace(root);
  const indexes: CodeIndex[] = [];
  const open = (more: Partial<CodeIndexOptions> = {}) => {
    const index = createCodeIndex({ workspace, root: directory, folder: state, workers: 1, ...options, ...more });
    indexes.push(index);
    return index;
  };
  const index = open();
  t.after(async () => {
    for (const one of indexes) await one.close();
    root.close();
    rmSync(base, { recursive: true });
  });
  return {
    ...{ directory, state, workspace, index, put, open },
    async write(file, text) {
      await index.refresh([await workspace.writeFile(file, Buffer.from(text), { createDirs: true })], live());
    },
  };
}

/** A signal that never fires. */
export function live(): AbortSignal {
  return new AbortController().signal;
}

export function namesOf(nodes: readonly QueryNode[]): string[] {
  return nodes.map((node) => node.name);
}

/** Everything the index knows, as one comparable value. */
export async function everything(index: CodeIndex): Promise<unknown> {
  const { nodes } = await index.query({}, { limit: 10_000, fresh: true });
  const files = [];
  for (const file of index.files()) {
    files.push({
      ...index.fileRow(file),
      imports: await index.importsOf(file),
      problems: await index.problemsOf(file),
    });
  }
  return { nodes, files };
}
