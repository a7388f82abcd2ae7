/**
 * Compiles the consumers' programs against the installed declarations, those of dependencies included (no skipLibCheck).
 *
 * The declarations of some frameworks do not compile by themselves; beside those, only what is said of our packages and
 * of the program counts.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Finding } from '../structure/finding.ts';
import { packagingFinding } from './packaging-finding.ts';
import { runProgram } from './run-program.ts';
import { placeProgram } from './try-entries.ts';

export interface TypedProgram {
  readonly name: string;
  readonly libraries: string;
  /** Declarations that are there without an import. */
  readonly types: readonly string[];
  readonly blames: RegExp;
}

const ANYBODY = /^/;
const OURSELVES = /^(?:\S*node_modules\/@tool-runtime\/|[^/]+\.mts\(|error )/;

export const TYPED_PROGRAMS: readonly TypedProgram[] = [
  { name: 'browser-client', libraries: 'esnext,dom', types: [], blames: ANYBODY },
  { name: 'embedding-program', libraries: 'esnext', types: ['node'], blames: ANYBODY },
  { name: 'framework-program', libraries: 'esnext,dom', types: ['node'], blames: OURSELVES },
];

export async function checkTypes(program: TypedProgram, root: string, folder: string): Promise<Finding[]> {
  const file = placeProgram(program.name, folder);
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const target = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext'];
  const found = ['--lib', program.libraries, ...program.types.flatMap((name) => ['--types', name])];
  const options = [...target, ...found, '--skipLibCheck', 'false', '--pretty', 'false', path.basename(file)];
  const { ok, stdout, stderr } = await runProgram(process.execPath, [compiler, ...options], { cwd: folder });
  rmSync(file);
  const lines = stdout.split('\n').filter((line) => /(?:^| )error TS\d+: /.test(line));
  if (!ok && lines.length === 0) return [fail(program.name, stderr)];
  return lines.filter((line) => program.blames.test(line)).map((line) => fail(program.name, line));
}

function fail(name: string, what: string): Finding {
  return packagingFinding('types', name, what, 'See the declarations in dist, and what they import');
}
