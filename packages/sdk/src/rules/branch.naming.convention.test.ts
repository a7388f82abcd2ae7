import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { inForce, withGate } from '../../test/gate-probe.ts';
import { isBranchName, suggestBranchName } from './branch.naming.convention.ts';

describe('branch.naming.convention [S0-71]', () => {
  const good = [
    ...['main', 'master', 'develop', 'gh-pages', 'feat/x', 'fix/crash-on-start', 'release/1.2', 'release/v1.2.0-rc.1'],
    ...['feature/ABC-123-login', 'chore/deps_update', 'fix/parser/empty-input', 'hotfix/2024-01-02', 'docs/readme'],
  ];
  for (const name of good) test(`accepts ${name} [S0-71]`, () => assert.equal(isBranchName(name), true));

  const suggestions: Readonly<Record<string, string>> = {
    'Feat/Login Page': 'feat/login-page',
    'login-page': 'feat/login-page',
    'fix-login': 'fix/login',
    'add-login': 'feat/add-login',
    'bug-42': 'fix/bug-42',
    'feat/LoginPage': 'feat/login-page',
    'feat/': 'feat/feat',
    'features/x': 'feat/x',
    'fxi/x': 'fix/x',
    'ada/new_parser': 'feat/ada/new-parser',
    Main: 'main',
    'ABC-123': 'feat/ABC-123',
    'fix/ABC-123_Café': 'fix/ABC-123-cafe',
    日本: 'feat/change',
  };
  for (const [name, expected] of Object.entries(suggestions)) {
    test(`proposes ${expected} for ${name} [S0-71]`, () => {
      assert.equal(isBranchName(name), false);
      assert.equal(suggestBranchName(name), expected);
    });
  }

  test('whatever is proposed follows the convention itself, for any name [S0-71] (deep)', () => {
    const parts = fc.constantFrom('feat', 'Fix', '/', '-', '.', '_', 'A', 'b', '1', 'ABC-1', 'ß', ' ', 'release');
    const names = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(parts).map((list) => list.join('')),
    );
    fc.assert(fc.property(names, (name) => assert.ok(isBranchName(suggestBranchName(name)), suggestBranchName(name))));
  });

  test('warns about a new branch, and never about existing ones [S0-71 S0-72]', async () => {
    await withGate({ registry: inForce('branch.naming.convention', 'warning'), files: {} }, async (gate) => {
      const created = (newBranch: string) => gate.ask({ verb: 'checkout', newBranch });
      assert.deepEqual((await created('feat/x')).warnings, []);
      assert.deepEqual((await gate.ask({ verb: 'checkout' })).warnings, []);
      const { ok, warnings } = await created('LoginPage');
      assert.equal(ok, true);
      assert.equal(warnings[0]?.message, 'Branch name does not follow the convention: LoginPage');
      assert.equal(warnings[0]?.details?.['next'], 'call it feat/login-page');
    });
  });

  test('the registry’s pattern takes the place of the usual form [S0-71]', async () => {
    const cases = [
      ["'^(feature|bugfix)/[a-z-]+$'", 'login', 'call it feature/login'],
      ["'^JIRA-\\d+$'", 'login', 'take names that match ^JIRA-\\d+$'],
    ] as const;
    for (const [pattern, name, next] of cases) {
      const registry = `${inForce('branch.naming.convention')}\nbranch_pattern: ${pattern}`;
      await withGate({ registry, files: {} }, async (gate) => {
        const { error } = await gate.ask({ verb: 'branch', newBranch: name });
        assert.equal(error?.details?.['next'], next);
        const good = pattern.includes('JIRA') ? 'JIRA-7' : 'bugfix/x';
        assert.equal((await gate.ask({ verb: 'branch', newBranch: good })).ok, true);
      });
    }
  });
});
