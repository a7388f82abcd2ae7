import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { JudgedBudget } from './budget.ts';
import * as catalog from './catalog.ts';
import type { Table } from './table.ts';

const results = mkdtempSync(join(tmpdir(), 'bench-results-'));
after(() => rmSync(results, { recursive: true, force: true }));

function bench(...args: readonly string[]) {
  const script = join(import.meta.dirname, 'run.ts');
  const nodeArgs = ['-C', 'tool-runtime-source', '--expose-gc', script, '--quick', '--results', results, ...args];
  return spawnSync(process.execPath, nodeArgs, { encoding: 'utf8' });
}

function reports(): readonly string[] {
  return readdirSync(results).filter((name) => name.endsWith('.json'));
}

describe('npm run bench', () => {
  for (const { name, summary } of Object.values(catalog)) {
    test(`runs ${name} alone, prints its tables and budgets and writes them as JSON`, () => {
      for (const report of reports()) rmSync(join(results, report));
      const { status, stdout, stderr } = bench(name);
      assert.equal(status, 0, stderr);
      assert.ok(stdout.includes(`== ${name}: ${summary}`), stdout);
      const report = JSON.parse(readFileSync(join(results, `${name}.json`), 'utf8'));
      assert.equal(report.group, name);
      assert.deepEqual(reports(), [`${name}.json`]);
      assert.equal(report.quick, true);
      assert.match(readFileSync(join(results, `${name}.svg`), 'utf8'), /^<svg [\s\S]*<\/svg>\n$/);
      const page = readFileSync(join(results, 'performance.md'), 'utf8');
      assert.match(page, new RegExp(`^Not measured yet: .*\\b${name}\\b`, 'm'), 'a quick run is no measurement');
      assert.ok(report.tables.length > 0 && report.budgets.length > 0);
      for (const table of report.tables as Table[]) checkTable(table, stdout);
      for (const budget of report.budgets as JudgedBudget[]) checkBudget(budget, stdout);
    });
  }

  test('refuses to run the conformance suite among measurements', () => {
    const { status, stderr } = bench('conformance', 'kernel');
    assert.equal(status, 2);
    assert.match(stderr, /conformance runs alone/);
  });

  test('refuses a group it does not have and says which there are', () => {
    const { status, stderr } = bench('kernels');
    assert.equal(status, 2);
    for (const { name } of Object.values(catalog)) assert.match(stderr, new RegExp(`^ {2}${name} `, 'm'));
  });
});

function checkTable(table: Table, printed: string): void {
  assert.ok(printed.includes(table.title));
  assert.ok(table.rows.length > 0, table.title);
  for (const peer of table.peers)
    assert.ok(
      table.rows.some((row) => row.name === peer),
      `no row for the peer ${peer}`,
    );
  for (const row of table.rows) {
    assert.ok(printed.includes(row.name), row.name);
    assert.ok(row.medianMicros > 0 && row.perSecond > 0, row.name);
    assert.equal(row.ratios.length, table.peers.length);
    for (const ratio of row.ratios) assert.ok(ratio > 0, row.name);
  }
}

function checkBudget(budget: JudgedBudget, printed: string): void {
  assert.ok(Number.isFinite(budget.measured), budget.name);
  const line = printed.split('\n').find((one) => one.includes(budget.name) && one.includes('='));
  assert.ok(line?.endsWith(budget.verdict), budget.name);
}

describe('npm run beside', () => {
  const script = join(import.meta.dirname, 'beside.ts');
  const beside = (...args: readonly string[]) =>
    spawnSync(process.execPath, ['-C', 'tool-runtime-source', '--expose-gc', script, ...args], { encoding: 'utf8' });

  test('compares two checkouts: here this one with itself', () => {
    const { status, stdout, stderr } = beside('--quick', join(import.meta.dirname, '..'));
    assert.equal(status, 0, stderr);
    for (const work of [
      'call file_read',
      'mcp, tools listed',
      'file_write, 1 KB',
      'git_add and git_commit',
      'ast_query',
    ]) {
      assert.match(stdout, new RegExp(`${work}.*, before \\(a\\) .*1\\.00x`));
      assert.match(stdout, new RegExp(`${work}.*, after `));
    }
  });

  test('refuses a folder that holds no built checkout', () => {
    const { status, stderr } = beside(tmpdir());
    assert.equal(status, 2);
    assert.match(stderr, /npm ci/);
  });
});
