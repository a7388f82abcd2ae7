import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { scratchIndex } from '../../../test/scratch-index.ts';
import { FactsView } from '../facts-view.ts';
import type { ParseOutcome } from './parse-outcome.ts';
import { createParsePool, type ParsePoolOptions } from './parse-pool.ts';

const HUGE = Array.from({ length: 60_000 }, (_, at) => `export function f${at}(){}`).join('\n');
const job = (path: string, text: string) => ({ path, language: 'typescript', bytes: Buffer.from(text) });

function pool(t: TestContext, options: Partial<ParsePoolOptions> = {}) {
  const made = createParsePool({ size: 2, heapMb: 1_024, ...options });
  t.after(() => made.close());
  return made;
}

/** Process ids. */
function childrenOf(parent: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/status`, 'utf8').includes(`\nPPid:\t${parent}\n`);
      } catch {
        return false;
      }
    });
}

function names(outcome: ParseOutcome): string[] {
  assert.ok('packed' in outcome);
  const view = new FactsView(outcome.packed);
  return Array.from({ length: view.nodeCount }, (_, node) => view.text(node, 'name'));
}

describe('the parse pool', () => {
  test('answers every job with its own facts, whatever the order [S0-52]', async (t) => {
    const parsing = pool(t);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, at) => parsing.parse(job(`f${at}.ts`, `const v${at} = 1;\n`))),
    );
    assert.deepEqual(
      outcomes.map(names),
      Array.from({ length: 40 }, (_, at) => [`v${at}`]),
    );
  });

  test('ends its processes after a quiet while, and says how much they parsed (deep)', async (t) => {
    const rest = Promise.withResolvers<number>();
    const parsing = pool(t, { size: 1, onRest: rest.resolve });
    await parsing.parse(job('a.ts', 'const a = 1;\n'));
    await parsing.parse(job('b.ts', 'let b;\n'));
    assert.equal(await rest.promise, 'const a = 1;\nlet b;\n'.length);
    assert.deepEqual(names(await parsing.parse(job('c.ts', 'let c;'))), ['c'], 'another one is started');
  });

  test('leaves the bytes with the caller', async (t) => {
    const one = job('a.ts', 'const a = 1;\n');
    await pool(t).parse(one);
    assert.equal(Buffer.from(one.bytes).toString(), 'const a = 1;\n');
  });

  test('says why a file has no facts', async (t) => {
    const parsing = pool(t);
    assert.deepEqual(await parsing.parse(job('a.ts', 'a\0b')), { skipped: 'binary' });
    assert.deepEqual(await parsing.parse({ ...job('a.x', 'a'), language: 'klingon' }), { skipped: 'grammar_refused' });
    assert.deepEqual(names(await parsing.parse(job('b.ts', 'let b;'))), ['b']);
  });

  test('replaces a process that dies: the file is given up, all others are answered [S0-52] (deep)', async (t) => {
    const parsing = pool(t, { heapMb: 24 });
    const jobs = [
      ...Array.from({ length: 6 }, (_, at) => job(`a${at}.ts`, `const a${at} = 1;\n`)),
      job('huge.ts', HUGE),
      ...Array.from({ length: 6 }, (_, at) => job(`b${at}.ts`, `const b${at} = 1;\n`)),
    ];
    const outcomes = await Promise.all(jobs.map((one) => parsing.parse(one)));
    const given = jobs.map(({ path }, at) => [path, 'skipped' in (outcomes[at] ?? {})] as const);
    assert.deepEqual(
      given.filter(([, isSkipped]) => isSkipped),
      [['huge.ts', true]],
    );
    assert.deepEqual(outcomes[6], { skipped: 'parser_crashed' });
    assert.deepEqual(names(await parsing.parse(job('c.ts', 'let c;'))), ['c']);
  });

  test('a generate skips the file a worker died on, with the reason, and remembers it [S0-52] (deep)', async (t) => {
    const files = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`f${at}.ts`, `const v${at} = 1;\n`]));
    const { index } = scratchIndex(t, { ...files, 'huge.ts': HUGE }, { workerHeapMb: 24 });
    const { parsed, skipped } = await index.generate();
    assert.deepEqual([parsed, skipped], [8, [{ path: 'huge.ts', reason: 'parser_crashed' }]]);
    const again = await index.generate();
    assert.deepEqual([again.parsed, again.skipped], [0, skipped]);
  });

  test('has no process before the first job and none after its end; they see nothing of the environment', async (t) => {
    const parsing = pool(t);
    const before = childrenOf(process.pid);
    const started = (): string[] => childrenOf(process.pid).filter((one) => !before.includes(one));
    assert.deepEqual(started(), []);
    await Promise.all([parsing.parse(job('a.ts', 'let a;')), parsing.parse(job('b.ts', 'let b;'))]);
    const children = started();
    assert.equal(children.length, 2);
    for (const child of children) {
      const names = readFileSync(`/proc/${child}/environ`, 'utf8').split('\0').filter(Boolean);
      assert.deepEqual(
        names.filter((name) => !name.startsWith('LD_LIBRARY_PATH=')),
        [],
      );
    }
    await parsing.close();
    assert.deepEqual(started(), []);
  });

  test('a program that closes its pool ends by itself, with nothing left unsettled', () => {
    const program = `
      const { createParsePool } = await import(${JSON.stringify(new URL('parse-pool.ts', import.meta.url).href)});
      const pool = createParsePool({ size: 2, heapMb: 512 });
      await pool.parse({ path: 'a.ts', language: 'typescript', bytes: Buffer.from('let a;') });
      await pool.close();
      console.log('closed');`;
    const { stdout, status } = spawnSync(
      process.execPath,
      ['--conditions=tool-runtime-source', '--input-type=module', '--eval', program],
      { encoding: 'utf8' },
    );
    assert.deepEqual([stdout, status], ['closed\n', 0]);
  });

  test('refuses jobs after and at its end', async (t) => {
    const parsing = pool(t);
    const running = parsing.parse(job('a.ts', HUGE));
    const refused = assert.rejects(running, /closed/);
    await parsing.close();
    await refused;
    await assert.rejects(parsing.parse(job('a.ts', 'let a;')), /closed/);
    await parsing.room();
  });
});
