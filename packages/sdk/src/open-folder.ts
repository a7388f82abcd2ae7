/**
 * A runtime on one folder of another's workspace, for sessions that may see no more.
 *
 * The folder is found and held by descriptor, below the workspace it belongs to; nothing leads out of it afterwards, because
 * everything the session is given (files, commands, git) begins there. The code index belongs to the whole workspace: it
 * follows what is written in the folder, and sessions in the folder cannot ask it about the rest.
 */
import type { ToolError } from '@tool-runtime/protocol';
import type { AstIndex } from './contracts/ast.ts';
import { failure } from './contracts/failures.ts';
import type { RuleDefinition } from './contracts/rule.ts';
import type { FileChange } from './contracts/workspace.ts';
import { openStage, type StagePlace } from './open-stage.ts';
import { lazySessionPrograms } from './platform/commands/lazy-session-programs.ts';
import type { Disk } from './platform/descriptors/disk.ts';
import type { Enclosing } from './platform/descriptors/places.ts';
import type { Root } from './platform/descriptors/root.ts';
import { createWorkspace } from './platform/files/workspace.ts';
import { gitPlaces } from './platform/git/git-folders.ts';
import type { GoverningFiles } from './platform/protection/governing-files.ts';
import { heldFolder } from './platform/protection/held-folder-root.ts';
import type { OpenFolder, RuntimeParts } from './session/compile-session.ts';

export interface FolderSetting {
  readonly parts: RuntimeParts;
  readonly root: Root;
  readonly state: string;
  readonly governing: GoverningFiles;
  readonly disk: Disk;
  /** Where content of transactions is kept. */
  readonly changes: StagePlace['changes'];
  /** The workspace that path rules are written for, when `root` is a folder of it already. */
  readonly enclosing?: Enclosing;
}

/** Throws E_POLICY for a path that leaves the workspace or leads into a governing folder, E_VALIDATION_FAIL for no folder. */
export function openFolder(folder: string, setting: FolderSetting): OpenFolder {
  const held = heldFolder(setting.root, folder, setting.governing);
  if (held === undefined) throw noFolder(folder);
  const { root, prefix } = held;
  const { parts, state } = setting;
  const enclosing = enclosingOf(setting, prefix);
  const governing = setting.governing.with(gitPlaces(root.path));
  const workspace = createWorkspace(root, { governing, enclosing, disk: setting.disk });
  const runtime: RuntimeParts = {
    ...parts,
    rules: parts.rules.map(withoutIndex),
    workspace,
    changes: parts.changesOf(workspace, enclosing.prefix),
    openStage: (tree) => openStage(tree, { ...setting, root, governing, extraRoots: [], prefix: enclosing.prefix }),
    isFolder: true,
    folderPrefix: enclosing.prefix,
    ast: parts.ast === undefined ? undefined : indexBelow(parts.ast, prefix),
    createPrograms: (registry, { actor, sessionId }) => {
      const slots = { shared: parts.commandSlots, owner: sessionId };
      return lazySessionPrograms({
        ...{ workspace: root, state, registry, actor, slots, governing: governing.places },
        spawner: parts.spawner,
      });
    },
    openFolder: async (inner) => openFolder(inner, { ...setting, root, governing, parts: runtime, enclosing }),
  };
  return {
    runtime,
    async close() {
      workspace.close();
      root.close();
    },
  };
}

/** Rules of a registry are written for the whole workspace, and hold for its folders as they are there. */
function enclosingOf({ root, enclosing }: FolderSetting, prefix: string): Enclosing {
  if (enclosing === undefined || enclosing.prefix === '.') return { root: enclosing?.root ?? root, prefix };
  return { root: enclosing.root, prefix: prefix === '.' ? enclosing.prefix : `${enclosing.prefix}/${prefix}` };
}

function indexBelow(ast: AstIndex, prefix: string): AstIndex {
  const outer = (path: string): string => (prefix === '.' ? path : `${prefix}/${path}`);
  const outerChange = (change: FileChange): FileChange => ({ ...change, path: outer(change.path) });
  const { catchUp } = ast;
  return {
    covers: (path) => ast.covers(outer(path)),
    refresh: (changes, signal) => ast.refresh(changes.map(outerChange), signal),
    async parseProblems(path, signal, options) {
      const found = await ast.parseProblems(outer(path), signal, options);
      return found.map((violation) => (violation.path === undefined ? violation : { ...violation, path }));
    },
    ...(catchUp === undefined ? {} : { catchUp: (signal) => catchUp.call(ast, signal) }),
  };
}

/** Left out they would loosen what the operator wrote, so they refuse. */
function withoutIndex(rule: RuleDefinition): RuleDefinition {
  if (rule.needs?.includes('ast') !== true || rule.failsClosed === true) return rule;
  return {
    ...rule,
    check: () => [
      {
        message: `Rule needs the code index, which a session on a folder of the workspace does not have: ${rule.id}`,
        next: 'make this call in a session on the whole workspace',
      },
    ],
  };
}

function noFolder(folder: string): ToolError {
  return failure('invalid_state_transition', 'repair_needed', `Folder not found: ${folder.slice(0, 200)}`, {
    path: 'folder',
    details: { reason: 'not_found', next: 'name a folder of the workspace' },
  });
}
