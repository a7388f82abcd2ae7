/**
 * Everything one plan works on: files under change, and the declarations its ids mean.
 *
 * Reads every file once; what changes on disk meanwhile fails the precondition when the plan is applied.
 */
import { hash } from 'node:crypto';
import { ToolError } from '@tool-runtime/protocol';
import type { CodeIndex } from '../contracts/code-index-contract.ts';
import type { NodeFact } from '../contracts/facts.ts';
import type { ProjectFiles } from '../scope/scope-model.ts';
import type { Engine } from '../symbols/engine.ts';
import { Draft, type DraftOrigin } from './draft.ts';
import { refuseEdit, staleNode, throwIfAborted } from './edit-failures.ts';
import type { PlannedFile } from './edit-plan.ts';
import type { EditProfiles } from './edit-profile.ts';
import { locateTarget, type TargetPlace } from './locate-target.ts';
import { describe, type SessionMemory } from './session-memory.ts';

export interface DeskParts {
  readonly index: CodeIndex;
  readonly engine: Engine;
  readonly files: ProjectFiles;
  readonly profiles: EditProfiles;
  readonly memory: SessionMemory;
  readonly signal?: AbortSignal | undefined;
}

/** A declaration in a draft. Holds until the draft changes. */
export interface Target {
  readonly draft: Draft;
  readonly node: NodeFact;
  /** Place of `node` in the facts. */
  readonly at: number;
}

export interface TargetRequest extends TargetPlace {
  /** The name alone is edited: a local variable will do, and so will the first of several overloads. */
  readonly isNameOnly?: boolean;
  /** Instead of a place. */
  readonly target_node_id?: string | undefined;
  readonly expected_rev?: string | undefined;
}

export class EditDesk {
  readonly parts: DeskParts;
  readonly #drafts = new Map<string, Draft>();
  /** Path of the file each id was resolved in, and the id it goes by now; null once it is gone. */
  readonly #pinned = new Map<string, { readonly path: string; readonly id: string } | null>();

  constructor(parts: DeskParts) {
    this.parts = parts;
  }

  /** Files whose content differs from what it was, by path. */
  planned(): readonly PlannedFile[] {
    return [...this.#drafts.values()]
      .map((draft) => draft.planned())
      .filter(({ before, after }) => before === null || after === null || Buffer.compare(before, after) !== 0)
      .toSorted((left, right) => (left.path < right.path ? -1 : 1));
  }

  /** The workspace as the plan has it so far. */
  get files(): ProjectFiles {
    const { files } = this.parts;
    const drafts = this.#drafts;
    return {
      exists: (path) => drafts.has(path) || files.exists(path),
      read: (path) => drafts.get(path)?.source.bytes ?? files.read(path),
      list: () => [...new Set([...files.list(), ...drafts.keys()])],
    };
  }

  throwIfAborted(): void {
    throwIfAborted(this.parts.signal);
  }

  /** Throws E_AST_EDIT with `stale_node`. Once resolved an id keeps its meaning through the changes of the plan. */
  async target(request: TargetRequest): Promise<Target> {
    this.throwIfAborted();
    const { target_node_id: id, expected_rev: rev } = request;
    if (id === undefined) return this.#located(request);
    const pin = this.#pinned.get(id) ?? (this.#pinned.has(id) ? null : await this.#pin(id, rev));
    if (pin === null) throw staleNode(id, 'an earlier operation of the batch removed it');
    const draft = await this.draft(pin.path);
    const at = draft.facts.nodes.findIndex((node) => node.id === pin.id);
    const node = draft.facts.nodes[at];
    if (node === undefined) throw staleNode(id, 'the file is changing');
    if (node.ambiguous === true) throw staleNode(id, 'an earlier operation of the batch made it ambiguous');
    requireOwn(draft, node);
    return { draft, node, at };
  }

  async #located(request: TargetRequest): Promise<Target> {
    const { file, name, line, expected_rev: rev } = request;
    if (file === undefined || (name === undefined && line === undefined)) throw noTarget();
    const target = locateTarget(await this.draft(file), request, request.isNameOnly === true);
    requireOwn(target.draft, target.node);
    const { id, rev: found } = target.node;
    if (rev !== undefined && rev !== found) throw staleNode(id, 'the declaration changed');
    return target;
  }

  async draft(path: string): Promise<Draft> {
    this.throwIfAborted();
    const known = this.#drafts.get(path);
    if (known !== undefined) return known;
    const before = this.parts.files.read(path);
    if (before === undefined) throw notThere(path);
    const rows = await this.parts.index.nodesOfFile(path);
    return this.#open(path, { before, sha256: hash('sha256', before), rows });
  }

  /** A file that the plan creates. */
  async create(path: string): Promise<Draft> {
    if (this.files.exists(path)) {
      throw refuseEdit('file_exists', `File exists: ${path}`, { path, next: 'name another file' });
    }
    return this.#open(path, { before: null, sha256: null });
  }

  /** To be told after every change of a plan that goes on: ids follow, and what is gone stays gone. */
  follow(renamed: Readonly<Record<string, string>>, movedTo?: string): void {
    for (const [given, pin] of this.#pinned) {
      if (pin === null) continue;
      const id = renamed[pin.id] ?? pin.id;
      const paths = movedTo === undefined || id === pin.id ? [pin.path] : [pin.path, movedTo];
      const path = paths.find((one) => this.#drafts.get(one)?.facts.nodes.some((node) => node.id === id) ?? true);
      this.#pinned.set(given, path === undefined ? null : { path, id });
    }
  }

  close(): void {
    for (const draft of this.#drafts.values()) draft.close();
    this.#drafts.clear();
  }

  async #pin(id: string, rev: string | undefined): Promise<{ readonly path: string; readonly id: string }> {
    const { index, memory } = this.parts;
    const found = await index.nodeById(id);
    if (found === undefined) {
      const candidate = await memory.candidate(id, index);
      throw staleNode(id, 'it names nothing', candidate === undefined ? {} : { candidate });
    }
    const { node, ambiguous, sha256 } = found;
    memory.remember([node]);
    if (ambiguous) throw staleNode(id, 'it fits several declarations', { candidate: describe(node) });
    if (rev !== undefined && node.rev !== rev) {
      throw staleNode(id, 'the declaration changed', { candidate: describe(node) });
    }
    const draft = await this.draft(node.file);
    if (draft.sha256 !== sha256) throw staleNode(id, 'the file is changing');
    const pin = { path: node.file, id };
    this.#pinned.set(id, pin);
    return pin;
  }

  async #open(path: string, content: Pick<DraftOrigin, 'before' | 'sha256' | 'rows'>): Promise<Draft> {
    const { index, engine, profiles, signal } = this.parts;
    const language = index.fileRow(path)?.language ?? engine.detect(path);
    if (language === undefined) throw unknownLanguage(path);
    const parser = await engine.parserFor(language);
    const draft = new Draft({ ...content, path, parser, engine, edit: profiles(language), signal });
    this.#drafts.set(path, draft);
    return draft;
  }
}

/** Operations know the syntax of the file, not that of the scripts and styles in it. */
function requireOwn({ path }: Draft, { name, language, line, endLine }: NodeFact): void {
  if (language === undefined) return;
  throw refuseEdit('embedded_code', `Declaration is ${language} inside of another file: ${name} in ${path}`, {
    path,
    next: `use file_edit on lines ${line} to ${endLine}`,
    details: { line, end_line: endLine, language },
  });
}

function noTarget(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'Edit has no target', {
    path: 'target_node_id',
    details: {
      reason: 'wrong_arguments',
      next: 'give file and name, or file, line and col, or target_node_id from ast_query',
    },
  });
}

function notThere(path: string): ToolError {
  return refuseEdit('no_such_file', `No such source file: ${path}`, {
    path,
    next: 'name a file of the workspace, relative to its root',
  });
}

function unknownLanguage(path: string): ToolError {
  return refuseEdit('unknown_language', `Not a file of a known language: ${path}`, {
    path,
    next: 'use file_patch for it',
  });
}
