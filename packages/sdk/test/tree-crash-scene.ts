/** What the crash test builds, and how it tells a whole tree from half of one. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const NOTES = [Buffer.alloc(400_000, '0'), Buffer.alloc(400_000, '1')];

const FOLDERS = 6;
const FILES = 10;

export function plantTree(directory: string, version: string): void {
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(directory, `folder-${folder}/inner`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES; file++) writeFileSync(join(path, `file-${file}`), `${version} ${folder} ${file}`);
    symlinkSync(`../folder-${folder}`, join(path, 'link'));
  }
}

/** Everything in a tree as one text; undefined when there is nothing. */
export function textOf(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  if (stat.isFile()) return readFileSync(path, 'utf8');
  const names = readdirSync(path).sort();
  return `{${names.map((name) => `${name}: ${textOf(join(path, name))}`).join(', ')}}`;
}
