import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runTarget } from '../run-target.ts';
import { FUZZ_TARGETS } from './catalog.ts';

interface Trial {
  readonly cases: number;
  /** What inputs of this many must have led to at least once; otherwise nothing was tried. */
  readonly outcomes: readonly RegExp[];
  readonly ids?: string;
}

/** A short run of each, the same on every machine. */
const TRIALS: Readonly<Record<string, Trial>> = {
  envelopes: { cases: 2_000, outcomes: [/^ToolRequest \//, /duplicate_key/, /\/ ToolResponse$/], ids: 'S0-2 S0-8' },
  'result-json': { cases: 1_500, outcomes: [/^valid partial/, /^duplicate_key/, /^ambiguous_field/], ids: 'S4-20' },
  urls: { cases: 3_000, outcomes: [/redirect allowed/, /^not_listed/, /^userinfo/], ids: 'S0-11 S0-40' },
  globs: { cases: 3_000, outcomes: [/^true true/, /^false true/, /not closed/], ids: 'S2-26' },
  registries: { cases: 150, outcomes: [/^loaded, overreach/, /^Not valid YAML/, /^Unknown key/], ids: 'S0-23' },
  'shell-lines': { cases: 1_500, outcomes: [/^1 allowed/, /^expansion/, /refused_program/], ids: 'S0-12' },
  patches: { cases: 2_000, outcomes: [/^by the book/, /^refused hunk_mismatch/, /elsewhere/], ids: 'S0-32' },
  'lsp-frames': { cases: 250, outcomes: [/^heard/, /^malformed_frame/, /\brename\b/] },
  'mcp-frames': { cases: 500, outcomes: [/protocolVersion\+capabilities/, /-32601/, /refused/] },
  dispatcher: { cases: 1_500, outcomes: [/\bok\b/, /E_POLICY/, /E_VALIDATION_FAIL/], ids: 'S0-8 S0-9 S0-10' },
};

for (const [target, { cases, outcomes, ids }] of Object.entries(TRIALS)) {
  test(`nothing is found by ${cases} inputs against ${target}${ids === undefined ? '' : ` [${ids}]`}`, async (t) => {
    const crashFolder = mkdtempSync(join(tmpdir(), 'fuzz-crashes-'));
    t.after(() => rmSync(crashFolder, { recursive: true }));
    const report = await runTarget({
      catalog: new URL('./catalog.ts', import.meta.url).href,
      target,
      seedFolder: join(import.meta.dirname, '..', 'seeds', target),
      crashFolder,
      seed: 42,
      cases,
      seconds: 100,
      judgesTime: false,
      limitMs: 30_000,
    });
    assert.deepEqual(
      report.findings.map(({ message, input }) => ({ message, input: Buffer.from(input).toString('latin1') })),
      [],
    );
    const words = Object.keys(report.outcomes);
    for (const outcome of outcomes)
      assert.ok(
        words.some((word) => outcome.test(word)),
        `never ${outcome}: ${words.join('; ')}`,
      );
  });
}

test('every target is tried here', () => {
  assert.deepEqual(Object.keys(TRIALS), Object.keys(FUZZ_TARGETS));
});
