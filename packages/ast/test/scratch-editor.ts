/** A workspace with files, its index and an editor, for tests; gone with the test. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Workspace } from '@tool-runtime/sdk';
import { createWorkspace, openRoot } from '@tool-runtime/sdk/testing';
import type { CodeIndex } from '../src/contracts/code-index-contract.ts';
import type { AppliedEdit } from '../src/edit/apply-edit.ts';
import type { EditRequest } from '../src/edit/edit-operations.ts';
import { createEditor, type Editor, type EditorOptions } from '../src/edit/editor.ts';
import { openWorkspaceFiles } from '../src/edit/workspace-files.ts';
import { createCodeIndex } from '../src/index/code-index.ts';
import { createEngine, type Engine } from '../src/symbols/engine.ts';

export interface ScratchEditor {
  readonly root: string;
  readonly workspace: Workspace;
  readonly index: CodeIndex;
  readonly engine: Engine;
  readonly editor: Editor;
  read(path: string): string;
  bytes(path: string): Buffer;
  write(path: string, text: string | Uint8Array): void;
  /** Path → mode and bytes of everything. */
  snapshot(): Record<string, string>;
  /** Id of the only declaration of this name. */
  id(
    name: string,
    where?: { readonly type?: string; readonly file?: string; readonly container?: string },
  ): Promise<string>;
  /** Plan and apply. */
  edit(request: EditRequest): Promise<AppliedEdit>;
}

/** One for all tests of a file: loading grammars is what takes time. */
const engine: Engine = createEngine();

export interface ScratchOptions
  extends Partial<Pick<EditorOptions, 'servers' | 'formatter' | 'build' | 'serverTimeoutMs'>> {
  /** A folder of the caller's own, such as that of scratch servers. */
  readonly root?: string;
}

export async function openScratchEditor(
  t: TestContext,
  files: Readonly<Record<string, string | Uint8Array>>,
  { root: given, ...options }: ScratchOptions = {},
): Promise<ScratchEditor> {
  const root = given ?? realpathSync(mkdtempSync(join(tmpdir(), 'edit-')));
  const write = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const folder = openRoot(root);
  const workspace = createWorkspace(folder);
  const index = createCodeIndex({ workspace, workers: 1 });
  await index.generate();
  const editor = createEditor({
    index,
    engine,
    files: (signal) => openWorkspaceFiles({ workspace, index, signal }),
    ...options,
  });
  t.after(async () => {
    await index.close();
    folder.close();
    if (given === undefined) rmSync(root, { recursive: true, force: true });
  });
  return {
    root,
    workspace,
    index,
    engine,
    editor,
    read: (path) => readFileSync(join(root, path), 'utf8'),
    bytes: (path) => readFileSync(join(root, path)),
    write,
    snapshot: () => snapshotOf(root),
    async id(name, { type, file, container } = {}) {
      const { nodes } = await index.query(
        {
          name_like: name,
          ...(type === undefined ? {} : { type }),
          ...(file === undefined ? {} : { file_glob: file }),
          ...(container === undefined ? {} : { container }),
        },
        { fresh: true },
      );
      if (nodes.length !== 1) throw new TypeError(`${nodes.length} declarations of ${name}`);
      return nodes[0]!.id;
    },
    async edit(request) {
      return editor.apply(await editor.plan(request), workspace);
    },
  };
}

function snapshotOf(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const mode = (statSync(path).mode & 0o777).toString(8);
    found[path.slice(root.length + 1)] = entry.isDirectory()
      ? `${mode} folder`
      : `${mode} ${readFileSync(path, 'base64')}`;
  }
  return found;
}

export function makeExecutable(editor: ScratchEditor, path: string): void {
  chmodSync(join(editor.root, path), 0o755);
}
