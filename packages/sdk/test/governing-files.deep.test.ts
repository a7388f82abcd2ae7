/** Governing files against every tool of the catalog: as root, whom permissions do not stop, and as an ordinary user. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { sideEffectRank } from '../src/contracts/annotations.ts';
import type { AnyTool } from '../src/contracts/tool.ts';
import * as catalog from '../src/tools/catalog.ts';
import { KINDS } from './governing-scene.ts';

const CHILD = new URL('./governing-child.ts', import.meta.url).pathname;
const NOBODY = 65534;

/** Git verbs without path arguments: governing-git.deep.test.ts has those that write the work tree. */
const BY_VERB = ['abort', 'branch', 'checkout', 'commit', 'continue', 'fetch', 'merge', 'pull', 'push', 'rebase'];
const WITHOUT_PATHS = new Set([
  ...[...BY_VERB, 'recover', 'stash'].map((verb) => `git_${verb}`),
  // They write no file of the workspace; commands and jobs are attacked by a script.
  ...['curl', 'job_input', 'job_stop', 'validate'],
  // They write what a change set names; commit-changes.test.ts attacks that.
  ...['change_apply', 'change_discard'],
  // What calls of a transaction write is attacked in transactions.deep.test.ts.
  ...['tx_begin', 'tx_commit', 'tx_abort'],
]);

test('every tool that changes something says which arguments are paths, or is attacked elsewhere', () => {
  const unattacked = Object.values(catalog as Record<string, AnyTool>)
    .filter(
      ({ annotations }) => sideEffectRank(annotations?.side_effect_level ?? 'network') > sideEffectRank('read_only'),
    )
    .filter(({ annotations }) => (annotations?.arg_schema?.path_params ?? []).length === 0)
    .map(({ name }) => name)
    .filter((name) => !WITHOUT_PATHS.has(name));
  assert.deepEqual(unattacked, []);
});

for (const uid of process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? NOBODY]) {
  for (const kind of KINDS) {
    test(`no tool, command or child of user ${uid} changes or reads ${kind}, wherever it lies, and all work beside it`, async () => {
      const words = ['-C', 'tool-runtime-source', CHILD, String(uid), kind];
      const { stdout } = await promisify(execFile)(process.execPath, words, { maxBuffer: 64 * 1024 * 1024 });
      const { hits, refusedTwins, attacks, twins, ...report } = JSON.parse(stdout);
      assert.equal(report.uid, uid);
      assert.deepEqual(hits, []);
      assert.deepEqual(refusedTwins, []);
      assert.ok(attacks > 200, `only ${attacks} attacks`);
      assert.ok(twins > 50, `only ${twins} twins`);
    });
  }
}
