import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, runCli, type Scratch } from '../../../test/run-cli.ts';

const A =
  'export class Store {\n  load(): number {\n    return 1;\n  }\n}\n\nexport function start(): number {\n  return 1;\n}\n';
const B = "import { start } from './a.ts';\n\nexport const started = start();\n";

function project(): Scratch {
  const scratch = createScratch();
  mkdirSync(join(scratch.workspace, 'src'));
  scratch.write('src/a.ts', A);
  scratch.write('src/b.ts', B);
  return scratch;
}

const run = (scratch: Scratch, ...words: string[]) => runCli(['ast', ...words, ...scratch.options]);

describe('tool-runtime ast', () => {
  test('outline shows the declarations of a file, indented, with lines and ids (deep)', async () => {
    using scratch = project();
    const { code, stdout, stderr } = await run(scratch, 'outline', 'src/a.ts');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^class Store 1-5 {2}n\w{12}\n {2}method load 2-4 {2}n\w{12}\nfn start 7-9 {2}n\w{12}\n$/);
    const json = JSON.parse((await run(scratch, 'outline', 'src/a.ts', '--json')).stdout);
    assert.deepEqual([json.ok, json.data.nodes.length], [true, 3]);
    const missing = await run(scratch, 'outline', 'src/none.ts');
    assert.deepEqual([missing.code, missing.stdout], [1, '']);
  });

  test('find lists declarations by name, kind and file, and ends with 1 when there are none (deep)', async () => {
    using scratch = project();
    const { code, stdout } = await run(scratch, 'find', 'sta*', '--type', 'fn');
    assert.equal(code, 0);
    assert.match(stdout, /^src\/a\.ts:7:1 fn start {2}export function start\(\): number {2}n\w{12}\n$/);
    assert.equal((await run(scratch, 'find', 'nothing', 'load')).code, 0, 'one of several names');
    const none = await run(scratch, 'find', 'nothing');
    assert.deepEqual([none.code, none.stdout], [1, '']);
    assert.match(none.stderr, /Nothing found: nothing/);
    assert.equal((await run(scratch, 'find')).code, 2);
    assert.equal((await run(scratch, 'find', 'x', '--type', 'klingon')).code, 1);
  });

  test('refs says who uses a declaration, by name, id and place (deep)', async () => {
    using scratch = project();
    const byName = await run(scratch, 'refs', 'start');
    assert.deepEqual([byName.code, byName.stdout], [0, 'src/b.ts:1:10 import start\nsrc/b.ts:3:24 reference start\n']);
    assert.deepEqual(await run(scratch, 'refs', 'src/a.ts:7:17'), byName);
    const { data } = JSON.parse((await run(scratch, 'find', 'start', '--json')).stdout);
    assert.deepEqual(await run(scratch, 'refs', data.nodes[0].id), byName);
    assert.equal((await run(scratch, 'refs', 'started')).code, 1, 'nobody uses it');
    assert.equal((await run(scratch, 'refs', 'src/a.ts:3')).code, 1, 'no declaration there');
  });

  test('rename shows a diff with --dry-run and changes every use without (deep)', async () => {
    using scratch = project();
    const planned = await run(scratch, 'rename', 'start', 'begin', '--dry-run');
    assert.equal(planned.code, 0, planned.stderr);
    assert.match(planned.stdout, /^-export function start\(\): number \{$/m);
    assert.match(planned.stdout, /^\+export function begin\(\): number \{$/m);
    assert.match(planned.stdout, /^Would make: 3 edits in 2 files/m);
    assert.equal(readFileSync(join(scratch.workspace, 'src/b.ts'), 'utf8'), B);
    const done = await run(scratch, 'rename', 'src/a.ts:7', 'begin');
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /^Done: 3 edits in 2 files \(resolver\)\n {2}src\/a\.ts\n {2}src\/b\.ts\n$/);
    assert.equal(readFileSync(join(scratch.workspace, 'src/b.ts'), 'utf8'), B.replaceAll(/\bstart\b/g, 'begin'));
    const refused = await run(scratch, 'rename', 'begin', 'not a name');
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /^error E_AST_EDIT /);
  });

  test('rename wants one declaration, and lists the candidates when there are several', async () => {
    using scratch = project();
    scratch.write('src/c.ts', 'export function start(): void {}\n');
    const several = await run(scratch, 'rename', 'start', 'begin');
    assert.equal(several.code, 1);
    assert.match(several.stdout, /^src\/a\.ts:7:1 .*\nsrc\/c\.ts:1:1 /);
    assert.match(several.stderr, /Several declarations have this name: start/);
    assert.equal((await run(scratch, 'rename', 'start')).code, 2);
  });

  test('rewrite replaces what looks like a pattern (deep)', async () => {
    using scratch = project();
    const words = ['rewrite', 'return $X', 'return ($X)', '--lang', 'typescript'];
    const planned = await run(scratch, ...words, '--dry-run');
    assert.deepEqual([planned.code, readFileSync(join(scratch.workspace, 'src/a.ts'), 'utf8')], [0, A], planned.stderr);
    assert.equal((await run(scratch, ...words)).code, 0);
    assert.equal(readFileSync(join(scratch.workspace, 'src/a.ts'), 'utf8'), A.replaceAll('return 1', 'return (1)'));
  });

  test('generate counts what it parsed and names what does not parse (deep)', async () => {
    using scratch = project();
    scratch.write('bad.ts', 'const x = ;\n');
    const first = await run(scratch, 'generate');
    assert.equal(first.code, 0);
    assert.match(first.stdout, /^Parsed 3 files, 0 unchanged; \d+ declarations \(typescript 3\)\nbad\.ts:1 /);
    assert.match((await run(scratch, 'generate')).stdout, /^Parsed 0 files, 3 unchanged/);
    assert.match((await run(scratch, 'generate', 'src', '--full')).stdout, /^Parsed 2 files/);
    assert.equal((await run(scratch, 'generate', '../x')).code, 1);
  });
});
