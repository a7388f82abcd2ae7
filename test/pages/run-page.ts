/**
 * Runs the marked blocks of a page one after the other in a folder of their own, the way a reader would: an empty home, a
 * clean environment, `tool-runtime` and `node` on the path (both with the sources of this checkout), and the packages
 * where an import finds them.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { FROM_SOURCE } from '../../packages/host/test/run-cli.ts';
import { type Block, ROOT } from './read-page.ts';

export interface PageFolder {
  readonly root: string;
  readonly workspace: string;
  readonly environment: NodeJS.ProcessEnv;
  [Symbol.dispose](): void;
}

export function createPageFolder(): PageFolder {
  const root = mkdtempSync(join(tmpdir(), 'tool-runtime-page-'));
  const [workspace, home, bin] = [join(root, 'first'), join(root, 'home'), join(root, 'bin')];
  for (const folder of [workspace, home, bin]) mkdirSync(folder);
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  writeProgram(join(bin, 'tool-runtime'), FROM_SOURCE);
  writeProgram(join(bin, 'node'), FROM_SOURCE.slice(0, 2));
  return {
    root,
    workspace,
    environment: {
      HOME: home,
      PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
      NODE_COMPILE_CACHE: join(tmpdir(), 'tool-runtime-compiled'),
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function writeProgram(path: string, words: readonly string[]): void {
  const quoted = [process.execPath, ...words].map((word) => `'${word}'`).join(' ');
  writeFileSync(path, `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
}

export interface BlockRun {
  readonly block: Block;
  readonly printed: string;
  readonly status: number | null;
  /** What the page shows; undefined where it shows nothing. */
  readonly shown: string | undefined;
}

export async function runBlocks(blocks: readonly Block[], folder: PageFolder): Promise<readonly BlockRun[]> {
  const runs: BlockRun[] = [];
  for (const [index, block] of blocks.entries()) {
    const [verb = '', name = ''] = block.mark.split(': ');
    if (verb === 'file' || verb === 'add') placeFile(join(folder.workspace, name), block.text, verb);
    if (verb === 'shown') compareShown(join(folder.workspace, name), block);
    if (verb !== 'run') continue;
    const next = blocks[index + 1];
    const shown = next?.isNext === true && next.language === '' ? next.text : undefined;
    runs.push({ block, shown, ...(await (name === 'terminal' ? runTerminal : runShell)(block.text, folder)) });
  }
  return runs;
}

/** On a pseudo-terminal: output for people, without the progress lines that were overwritten. */
async function runTerminal(script: string, folder: PageFolder) {
  const file = join(folder.root, 'terminal.sh');
  writeFileSync(file, script);
  const { printed, status } = await runShell(`NO_COLOR=1 script -qec 'bash ${file}' /dev/null`, folder);
  return { printed: printed.replaceAll('\r\n', '\n').replaceAll(/[^\n]*\u001b\[K/g, ''), status };
}

function compareShown(path: string, { text: shown, line }: Block): void {
  assert.equal(readFileSync(path, 'utf8'), shown, `line ${line} shows another ${path}`);
}

async function runShell(script: string, { workspace, environment }: PageFolder) {
  const child = spawn('bash', ['-c', `exec 2>&1\n${script}`], {
    cwd: workspace,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 240_000,
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const printed = await text(child.stdout);
  return { printed, status: await ended };
}

function placeFile(path: string, content: string, verb: 'file' | 'add'): void {
  mkdirSync(dirname(path), { recursive: true });
  if (verb === 'add') appendFileSync(path, content);
  else writeFileSync(path, content);
  if (content.startsWith('#!')) chmodSync(path, 0o755);
}
