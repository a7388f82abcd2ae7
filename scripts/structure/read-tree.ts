/**
 * The files of the repository as the checks see them: what git tracks or would track, scanned once.
 *
 * Outside a git work tree (the tests' fake trees) the folder is walked instead.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findImports, type ImportLink } from './find-imports.ts';
import { type Scan, scanSource } from './scan-source.ts';

export interface TextFile {
  /** From the root, forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface SourceFile extends TextFile, Scan {
  readonly isTest: boolean;
  readonly lineCount: number;
  readonly imports: readonly ImportLink[];
  lineAt(offset: number): number;
}

export interface Tree {
  readonly texts: readonly TextFile[];
  readonly sources: readonly SourceFile[];
  has(file: string): boolean;
  source(file: string): SourceFile | undefined;
  text(file: string): string | undefined;
}

const SOURCE =
  /^(?!.*\/fixtures\/)(?:packages\/[^/]+\/(?:src|test|bin)|scripts|bench|examples|test)\/.*\.(?:ts|js|mjs)$/;
const SKIPPED = new Set(['node_modules', 'dist', '.git']);

export function readTree(root: string): Tree {
  const texts: TextFile[] = [];
  for (const name of listFiles(root)) {
    const bytes = readFileSync(path.join(root, name));
    if (!bytes.subarray(0, 8192).includes(0)) texts.push({ path: name, text: bytes.toString('utf8') });
  }
  const sources = texts.filter((file) => SOURCE.test(file.path)).map(toSource);
  const byPath = new Map(texts.map((file) => [file.path, file]));
  const sourceByPath = new Map(sources.map((file) => [file.path, file]));
  return {
    texts,
    sources,
    has: (file) => byPath.has(file),
    source: (file) => sourceByPath.get(file),
    text: (file) => byPath.get(file)?.text,
  };
}

/** What git tracks or would track, sorted; outside a git work tree, what is there. */
export function listFiles(root: string): string[] {
  return (existsSync(path.join(root, '.git')) ? listWithGit(root) : walk(root, '')).sort();
}

function listWithGit(root: string): string[] {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = execFileSync('git', options, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return listed.split('\0').filter((name) => name !== '' && existsSync(path.join(root, name)));
}

function walk(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(root, name);
    return entry.isFile() ? [name] : [];
  });
}

function toSource(file: TextFile): SourceFile {
  const scan = scanSource(file.text);
  return {
    ...file,
    ...scan,
    isTest: /\.test\.\w+$/.test(file.path),
    lineCount: file.text.split('\n').length - (file.text.endsWith('\n') ? 1 : 0),
    imports: findImports(scan),
    lineAt: (offset) => file.text.slice(0, offset).split('\n').length,
  };
}
