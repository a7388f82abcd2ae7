/**
 * The remaining users of a declaration: by scope where scopes can tell, by language server where they cannot, and without either
 * everything that has the name. An unclear use counts as a use.
 */
import { isToolError } from '@tool-runtime/protocol';
import { findReferences } from '../scope/find-references.ts';
import type { Target } from './edit-desk.ts';
import { throwIfAborted } from './edit-failures.ts';
import type { Confidence } from './edit-plan.ts';
import { auditServer, findOccurrences } from './rename/find-occurrences.ts';
import type { Work } from './work.ts';

export interface Use {
  readonly file: string;
  readonly line: number;
  /** False: it has the name, and what it means is unknown. */
  readonly isCertain: boolean;
}

export interface FoundUses {
  readonly uses: readonly Use[];
  readonly confidence: Confidence;
}

export async function findUses(target: Target, work: Work): Promise<FoundUses> {
  const { draft, node } = target;
  const { engine, signal } = work.desk.parts;
  const found = await findReferences({
    files: work.desk.files,
    engine,
    target: { path: draft.path, nameStart: node.nameSpan.start, name: node.name },
    withAliases: true,
    ...(signal === undefined ? {} : { signal }),
  });
  if (found.refused === undefined) {
    const uses = found.references
      .filter(({ path, start, role }) => role !== 'definition' && !isInside(target, path, start))
      .map(({ path, line }) => ({ file: path, line, isCertain: true }));
    return { uses, confidence: 'resolver' };
  }
  return (await byServer(target, work)) ?? { uses: await byName(target, work), confidence: 'tree' };
}

function isInside({ draft, node }: Target, path: string, start: number): boolean {
  return path === draft.path && node.fullSpan.start <= start && start < node.fullSpan.end;
}

async function byServer(target: Target, work: Work): Promise<FoundUses | undefined> {
  const { servers, desk, serverTimeoutMs: timeoutMs } = work;
  const { signal } = desk.parts;
  if (servers === undefined || !servers.covers(target.draft.path)) return undefined;
  try {
    const server = await servers.serverFor(target.draft.path, {
      timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    });
    const own = {
      path: target.draft.path,
      start: target.node.nameSpan.start,
      end: target.node.nameSpan.end,
      newText: '',
    };
    const left = await auditServer(target, [own], server, work);
    const uses = left
      .filter(({ kind }) => kind !== 'comment' && kind !== 'string')
      .map(({ file, line }) => ({ file, line, isCertain: false }));
    return { uses: uses.filter(({ file, line }) => !isOwnLine(target, file, line)), confidence: 'server' };
  } catch (thrown) {
    throwIfAborted(signal);
    if (!isToolError(thrown)) throw thrown;
    if (thrown.details['reason'] === 'server_partial') {
      return {
        uses: [{ file: thrown.path ?? '', line: Number(thrown.details['line']), isCertain: true }],
        confidence: 'server',
      };
    }
    work.warn(`asked without the language server: ${thrown.message}`);
    return undefined;
  }
}

function isOwnLine({ draft, node }: Target, file: string, line: number): boolean {
  return file === draft.path && node.line <= line && line <= node.endLine;
}

async function byName(target: Target, work: Work): Promise<readonly Use[]> {
  const { files, parts } = work.desk;
  const isWanted = (path: string) => languageOf(path, work) === target.draft.parser.language;
  const all = await findOccurrences({ ...parts, files, node: target.node, isWanted });
  return all
    .filter(({ file, start, kind }) => kind !== 'comment' && kind !== 'string' && !isInside(target, file, start))
    .map(({ file, line }) => ({ file, line, isCertain: false }));
}

export interface Mention extends Use {
  /** The string is code, or names what is looked up: `onclick="x()"`, `getattr(a, "x")`. */
  readonly isUse: boolean;
}

/** What stands before a name in a handler of a page, or in a look-up by name. */
const RUN_BEFORE = /(?:\son[a-z]+\s*=\s*(?:"[^"]*|'[^']*)|\b(?:get|has|set|del)attr\s*\([^()]*,\s*["'])$/i;
const BEFORE_BYTES = 400;

/** Where the name is in a string, or in text that the grammar does not look into. */
export async function findMentions({ node }: Target, { desk }: Work): Promise<readonly Mention[]> {
  const { files, parts } = desk;
  const all = await findOccurrences({ ...parts, files, node, isWanted: () => true });
  return all
    .filter(({ kind }) => kind === 'string' || kind === 'macro')
    .map(({ file, line, start }) => {
      const before = Buffer.from(files.read(file) ?? []).subarray(Math.max(0, start - BEFORE_BYTES), start);
      return { file, line, isCertain: false, isUse: RUN_BEFORE.test(before.toString()) };
    });
}

function languageOf(path: string, { desk }: Work): string | undefined {
  return desk.parts.index.fileRow(path)?.language ?? desk.parts.engine.detect(path);
}
