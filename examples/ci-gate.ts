/**
 * A CI gate: runs the rules of the registry on the commits of a branch, in a real repository. One branch is refused
 * because of a secret and a TODO, the other passes. From a shell: `tool-runtime validate --since main --ci`.
 *
 * The registry is the operator's. Nothing in the branch can influence whether it passes.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime } from '@tool-runtime/sdk';

const REGISTRY = `
version: 1
side_effect_level: read_only
protected_branches: ['*']
validators:
  - rule: secrets.scan
  - rule: code.todo.blockers
  - rule: test.required.changed
    enforcement: warning
`;

interface Finding {
  readonly rule: string;
  readonly level: 'blocking' | 'warning' | 'suggestion';
  readonly message: string;
}

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-ci-gate-'));
const repository = join(scratch, 'repository');
mkdirSync(repository);

function git(...words: readonly string[]): void {
  const identity = ['-c', 'user.name=Dev', '-c', 'user.email=dev@example.org', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...identity, ...words], { cwd: repository, stdio: 'pipe' });
}

function commit(files: Readonly<Record<string, string>>, message: string): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(repository, name), text);
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
}

/** What a CI job would run. Returns true if the branch passes. */
async function gate(since: string): Promise<{ readonly pass: boolean; readonly rules: readonly string[] }> {
  const runtime = await createRuntime({
    workspace: repository,
    state: join(scratch, 'state'),
    registry: { file: 'ci.yaml', text: REGISTRY },
  });
  try {
    const session = await runtime.openSession({ actor: 'ci', client: 'ci-gate' });
    const { ok, data, errors } = await session.call('validate', { scope: 'range', since });
    // A rule that could not run counts as failed.
    assert.equal(ok, true, JSON.stringify(errors));
    const { violations } = data as unknown as { readonly violations: readonly Finding[] };
    for (const { level, rule, message } of violations) console.log(`  ${level} ${rule}: ${message}`);
    return {
      pass: violations.every(({ level }) => level !== 'blocking'),
      rules: [...new Set(violations.map(({ rule }) => rule))].sort(),
    };
  } finally {
    await runtime.close();
  }
}

try {
  git('init', '--quiet', '--initial-branch', 'main');
  commit({ 'README.md': '# Billing\n' }, 'docs: begin');

  git('switch', '--quiet', '--create', 'hasty');
  // Assembled at run time, so that secret scanners do not report this example.
  const token = ['ghp', 'x7Kq2Lm9Vt4Rw8Zs1Yb6Nc3Pd5Hf0Jg2Ae4U'].join('_');
  commit({ 'deploy.env': `TOKEN=${token}\n`, 'total.js': '// TODO: add up prices\n' }, 'feat: total');
  console.log('hasty');
  const hasty = await gate('main');
  assert.deepEqual(hasty, {
    pass: false,
    rules: ['code.todo.blockers', 'secrets.scan', 'test.required.changed'],
  });

  git('switch', '--quiet', '--create', 'careful', 'main');
  commit({ 'total.js': 'export const total = 0;\n', 'total.test.js': 'import "./total.js";\n' }, 'feat: total');
  console.log('careful');
  const careful = await gate('main');
  assert.deepEqual(careful, { pass: true, rules: [] });
  console.log(`hasty ${hasty.pass ? 'passes' : 'is refused'}, careful ${careful.pass ? 'passes' : 'is refused'}`);
} finally {
  rmSync(scratch, { recursive: true });
}
