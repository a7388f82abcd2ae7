import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SIDE_EFFECT_LEVELS, type SideEffectLevel, TOOL_KINDS, type ToolKind } from '../contracts/annotations.ts';
import type { ApprovalPolicy } from '../contracts/registry.ts';
import { type ApprovalSubject, compileApprovalPolicy, mergeApprovalPolicies } from './approval-policy.ts';

function call(tool: string, kind: ToolKind, level: SideEffectLevel, paths: string[] = []): ApprovalSubject {
  return { tool, annotated: true, profile: { kind, side_effect_level: level, effect: 'read', risk: 'low' }, paths };
}

const read = call('file_read', 'read', 'read_only', ['etc/x']);
const write = call('file_write', 'edit', 'workspace_write', ['src/a']);
const mystery: ApprovalSubject = { ...call('mystery', 'other', 'none'), annotated: false };

function verdict(policy: ApprovalPolicy | undefined, subject: ApprovalSubject): string {
  return compileApprovalPolicy(policy).judge(subject).verdict;
}

describe('compileApprovalPolicy', () => {
  test('asks in order: deny, write paths, require, approve, default; the stricter of two lists wins [S2-27]', () => {
    const every = { auto_deny: ['*'], write_path_allowlist: [], auto_approve: ['*'], require_approval: ['*'] };
    const { auto_deny: _deny, ...allowed } = every;
    const { write_path_allowlist: _paths, ...approved } = allowed;
    const { require_approval: _require, ...unasked } = approved;
    assert.deepEqual(compileApprovalPolicy(every).judge(write), {
      verdict: 'deny',
      reason: 'approval.auto_deny',
      field: 'approvals.auto_deny',
    });
    assert.equal(compileApprovalPolicy(allowed).judge(write).field, 'approvals.write_path_allowlist');
    assert.equal(compileApprovalPolicy(approved).judge(write).field, 'approvals.require_approval');
    assert.equal(compileApprovalPolicy(unasked).judge(write).field, 'approvals.auto_approve');
    assert.deepEqual(compileApprovalPolicy({}).judge(write), { verdict: 'ask', reason: 'approval.changes_by_default' });
  });

  test('a tool that asks by default is let through by a list and by nothing else', () => {
    const foreign = { ...read, asksByDefault: true };
    assert.equal(verdict(undefined, foreign), 'ask');
    assert.equal(verdict({}, foreign), 'ask');
    assert.equal(verdict({ auto_approve: ['file_read'] }, foreign), 'approve');
    assert.equal(verdict({ auto_deny: ['file_read'] }, foreign), 'deny');
    assert.equal(verdict({}, read), 'approve');
  });

  test('by default lets readers pass and asks for everything else [S2-27]', () => {
    const rows: [ToolKind, SideEffectLevel, string][] = [
      ['read', 'read_only', 'approve'],
      ['search', 'read_only', 'approve'],
      ['think', 'none', 'approve'],
      ['fetch', 'network', 'approve'],
      ['read', 'network', 'ask'],
      ['read', 'workspace_write', 'ask'],
      ['edit', 'workspace_write', 'ask'],
      ['execute', 'network', 'ask'],
      ['other', 'read_only', 'ask'],
    ];
    for (const [kind, level, expected] of rows) {
      assert.equal(verdict({}, call('any_name', kind, level)), expected, `${kind} ${level}`);
    }
  });

  test('lets a writer write only where every declared path matches [S2-27]', () => {
    const policy = { write_path_allowlist: ['src/**'], auto_approve: ['*'] };
    assert.equal(verdict(policy, write), 'approve');
    assert.equal(verdict(policy, { ...write, paths: ['src/a', 'etc/b'] }), 'deny');
    assert.equal(verdict(policy, { ...write, paths: ['src/../etc/b'] }), 'deny');
    assert.equal(verdict(policy, { ...write, paths: [] }), 'deny');
    assert.equal(verdict(policy, read), 'approve');
    assert.equal(verdict({ ...policy, write_path_allowlist: [] }, write), 'deny');
    assert.equal(verdict(policy, { ...mystery, paths: ['src/a'] }), 'ask');
    assert.equal(verdict(policy, mystery), 'deny');
  });

  test('never approves an unannotated tool by itself [S2-20]', () => {
    for (const policy of [undefined, {}, { auto_approve: ['*'] }, { auto_approve: ['mystery'] }]) {
      assert.equal(verdict(policy, mystery), 'ask');
    }
    assert.equal(verdict({ auto_deny: ['mystery'] }, mystery), 'deny');
    assert.equal(verdict(undefined, write), 'approve');
  });
});

describe('mergeApprovalPolicies', () => {
  test('unites deny and require, intersects approve and write paths [S2-27]', () => {
    assert.deepEqual(
      mergeApprovalPolicies(
        { auto_approve: ['file_*'], auto_deny: ['a'], require_approval: ['x'], write_path_allowlist: ['src/**'] },
        { auto_approve: ['file_read', 'b'], auto_deny: ['c', 'a'], write_path_allowlist: ['src/lib/**', 'docs/**'] },
      ),
      {
        auto_approve: ['file_read'],
        auto_deny: ['a', 'c'],
        require_approval: ['x'],
        write_path_allowlist: ['src/lib/**'],
      },
    );
  });

  test('keeps unset and empty apart [S2-27]', () => {
    const policy = { auto_deny: ['a'] };
    assert.equal(mergeApprovalPolicies(undefined, undefined), undefined);
    assert.equal(mergeApprovalPolicies(policy, undefined), policy);
    assert.equal(mergeApprovalPolicies(undefined, policy), policy);
    assert.deepEqual(mergeApprovalPolicies({}, {}), {});
    assert.deepEqual(mergeApprovalPolicies({ write_path_allowlist: ['a'] }, {}), { write_path_allowlist: ['a'] });
    assert.deepEqual(mergeApprovalPolicies({ write_path_allowlist: ['a'] }, { write_path_allowlist: ['b'] }), {
      write_path_allowlist: [],
    });
    assert.equal(verdict(mergeApprovalPolicies({}, { auto_approve: ['*'] }), write), 'ask');
  });

  test('a list beside a host without a policy approves its tools, and no foreign one [S2-27]', () => {
    const foreign = { ...write, asksByDefault: true };
    const merged = mergeApprovalPolicies(undefined, { auto_approve: ['*'] });
    assert.equal(verdict(merged, write), 'approve');
    assert.equal(verdict(merged, foreign), 'ask');
    assert.equal(verdict(mergeApprovalPolicies(merged, { auto_approve: ['*'] }), foreign), 'ask');
    assert.equal(verdict(mergeApprovalPolicies({ auto_approve: ['*'] }, merged), foreign), 'ask');
    assert.equal(verdict(mergeApprovalPolicies({ auto_approve: ['*'] }, { auto_approve: ['*'] }), foreign), 'approve');
    assert.equal(verdict(mergeApprovalPolicies({ auto_approve: ['*'] }, undefined), foreign), 'approve');
  });

  test('is never more lenient than either side [S2-27]', () => {
    const list = fc.uniqueArray(fc.constantFrom('a', 'b', '*', 'a*', 'b?'), { maxLength: 3 });
    const paths = fc.uniqueArray(fc.constantFrom('src/**', 'src/a', '**', '/tmp/**', 'docs/*'), { maxLength: 3 });
    const policy = fc.option(
      fc.record(
        { auto_approve: list, auto_deny: list, require_approval: list, write_path_allowlist: paths },
        { requiredKeys: [] },
      ) as fc.Arbitrary<ApprovalPolicy>,
      { nil: undefined },
    );
    const subject = fc.record({
      tool: fc.constantFrom('a', 'b', 'ab', 'bc', 'c'),
      annotated: fc.boolean(),
      asksByDefault: fc.boolean(),
      profile: fc.record({
        kind: fc.constantFrom(...TOOL_KINDS),
        side_effect_level: fc.constantFrom(...SIDE_EFFECT_LEVELS),
        effect: fc.constant('read' as const),
        risk: fc.constant('low' as const),
      }),
      paths: fc.uniqueArray(fc.constantFrom('src/a', 'src/b', 'docs/x', '/tmp/x', '../x'), { maxLength: 2 }),
    });
    const strictness = ['approve', 'ask', 'deny'];
    const rank = (one: ApprovalPolicy | undefined, judged: ApprovalSubject): number =>
      strictness.indexOf(verdict(one, judged));
    fc.assert(
      fc.property(policy, policy, subject, (host, session, judged) => {
        const merged = rank(mergeApprovalPolicies(host, session), judged);
        // A session without a policy leaves foreign tools to the host's.
        const isLeft = session === undefined && judged.asksByDefault;
        assert.ok(merged >= Math.max(rank(host, judged), isLeft ? 0 : rank(session, judged)));
      }),
      { numRuns: 5000 },
    );
  });
});
