import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { completeAnnotations, SIDE_EFFECT_LEVELS, TOOL_KINDS } from '../contracts/annotations.ts';
import type { CapabilityPolicy } from '../contracts/registry.ts';
import { compileArgConstraints } from './arg-constraints.ts';
import { type CeilingSubject, compileCeiling } from './check-ceiling.ts';
import { intersectPolicies, narrowPolicies } from './intersect-policy.ts';

const toolEntry = fc.constantFrom('*', '**', 'a', 'b', 'a_x', 'a_y', 'a_*', '*_x', '{a,b}', 'a_?');
const operations = fc.uniqueArray(fc.constantFrom('read', 'write', 'list'), { maxLength: 3 });
const capabilities = fc.dictionary(fc.constantFrom('workspace', 'process', 'http'), operations, {
  maxKeys: 3,
  noNullPrototype: true,
});
const constraint = fc.record({
  tool: toolEntry,
  arg_patterns: fc.uniqueArray(fc.constantFrom('src/**', 'docs/*', '**'), { maxLength: 2 }),
  arg_key: fc.constant('path'),
});
const policy = fc.record(
  {
    tools: fc.uniqueArray(toolEntry, { maxLength: 4 }),
    capabilities,
    workspace_roots: fc.uniqueArray(fc.constantFrom('/a', '/a/b', '/c', '/ab'), { maxLength: 3 }),
    side_effect_level: fc.constantFrom(...SIDE_EFFECT_LEVELS),
    recursion_limit: fc.nat({ max: 9 }),
    tool_arg_constraints: fc.uniqueArray(constraint, { maxLength: 2, selector: (entry) => JSON.stringify(entry) }),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<CapabilityPolicy>;

const subject: fc.Arbitrary<CeilingSubject> = fc
  .record({
    tool: fc.constantFrom('a', 'b', 'a_x', 'a_y', 'other'),
    annotated: fc.boolean(),
    kind: fc.constantFrom(...TOOL_KINDS),
    side_effect_level: fc.constantFrom(...SIDE_EFFECT_LEVELS),
    capabilities,
  })
  .map(({ tool, annotated, kind, side_effect_level, capabilities: asked }) => ({
    tool,
    annotated,
    annotations: completeAnnotations({ kind, side_effect_level, capabilities: asked }),
    profile: { kind, side_effect_level, effect: 'read', risk: 'low' },
  }));

function passes(limits: CapabilityPolicy, call: CeilingSubject, path: string): boolean {
  const schema = call.annotations.arg_schema;
  try {
    compileCeiling(limits).check(call);
    compileArgConstraints(limits.tool_arg_constraints, { name: call.tool, argSchema: schema }).check({ path });
    return true;
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    return false;
  }
}

describe('intersectPolicies', () => {
  test('never allows what either policy refuses, trimmed or not [S2-24]', () => {
    const path = fc.constantFrom('src/a', 'docs/b', 'etc');
    fc.assert(
      fc.property(policy, policy, subject, path, (host, requested, call, value) => {
        const { policy: both, overreach } = narrowPolicies(host, requested);
        if (!overreach.some((entry) => !/level|limit/.test(entry))) {
          assert.deepEqual(intersectPolicies(host, requested), both);
        } else assert.throws(() => intersectPolicies(host, requested), isToolError);
        if (!passes(both, call, value)) return;
        assert.equal(passes(host, call, value), true, 'host');
        assert.equal(passes(requested, call, value), true, 'requested');
      }),
      { numRuns: 5000 },
    );
  });

  test('never widens through a chain of three [S2-24]', () => {
    fc.assert(
      fc.property(policy, policy, policy, subject, (first, second, third, call) => {
        const all = narrowPolicies(narrowPolicies(first, second).policy, third).policy;
        if (!passes(all, call, 'src/a')) return;
        for (const one of [first, second, third]) assert.equal(passes(one, call, 'src/a'), true);
      }),
      { numRuns: 5000 },
    );
  });

  test('is idempotent, and unset changes nothing [S2-24]', () => {
    fc.assert(
      fc.property(policy, (one) => {
        assert.deepEqual(intersectPolicies(one, one), one);
        assert.deepEqual(intersectPolicies(one, {}), one);
        assert.deepEqual(intersectPolicies({}, one), one);
      }),
    );
  });

  test('takes the lower level, the smaller limit and both sets of constraints [S2-24]', () => {
    const first = { tool: 'a', arg_patterns: ['x'] };
    const second = { tool: 'a', arg_patterns: ['y'] };
    assert.deepEqual(
      intersectPolicies(
        { side_effect_level: 'network', recursion_limit: 2, tool_arg_constraints: [first] },
        { side_effect_level: 'read_only', recursion_limit: 8, tool_arg_constraints: [second, first] },
      ),
      { side_effect_level: 'read_only', recursion_limit: 2, tool_arg_constraints: [first, second] },
    );
  });

  test('names every overreach in one error instead of trimming in silence [S2-24]', () => {
    const host = { tools: ['file_*'], capabilities: { workspace: ['read'] }, workspace_roots: ['/data'] };
    const requested = {
      tools: ['file_read', 'git_push', '*'],
      capabilities: { workspace: ['read', 'write'], http: ['get'] },
      workspace_roots: ['/data/x', '/data/../etc', '/database'],
    };
    const overreach = [
      'tools: git_push',
      'tools: *',
      'capabilities: workspace.write',
      'capabilities: http',
      'workspace_roots: /data/../etc',
      'workspace_roots: /database',
    ];
    assert.throws(
      () => intersectPolicies(host, requested),
      (thrown) => {
        assert.ok(isToolError(thrown));
        assert.equal(thrown.code, 'E_POLICY');
        assert.equal(thrown.message, `Requested policy exceeds the host's: ${overreach.join('; ')}`);
        assert.deepEqual(thrown.details['overreach'], overreach);
        return true;
      },
    );
    const many = Array.from({ length: 30 }, (_, index) => `x${index}`);
    assert.throws(() => intersectPolicies(host, { tools: many }), /tools: x9; .*; and \d+ more$/);
    assert.deepEqual(narrowPolicies(host, requested), {
      policy: {
        tools: ['file_read', 'file_*'],
        capabilities: { workspace: ['read'] },
        workspace_roots: ['/data/x'],
      },
      overreach,
    });
    assert.deepEqual(intersectPolicies(host, { tools: ['file_r*'] }).tools, ['file_r*']);
  });

  test('disjoint lists leave nothing, which is not the same as unset [S2-24]', () => {
    const { policy: nothing } = narrowPolicies({ tools: ['a'] }, { tools: ['b'] });
    assert.deepEqual(nothing, { tools: [] });
    const call = { tool: 'a', annotated: true, annotations: completeAnnotations({ kind: 'think' }) };
    const profile = { kind: 'think', side_effect_level: 'none', effect: 'read', risk: 'low' } as const;
    assert.throws(() => compileCeiling(nothing).check({ ...call, profile }), isToolError);
    compileCeiling({}).check({ ...call, profile });
  });

  test('a requester cannot lift an unannotated tool over the ceiling by naming it [S2-25]', () => {
    const both = intersectPolicies({ tools: ['*'], side_effect_level: 'network' }, { tools: ['mystery'] });
    assert.deepEqual(both, { tools: ['mystery'], explicit_tools: [], side_effect_level: 'network' });
    const named = intersectPolicies({ tools: ['mystery'], side_effect_level: 'network' }, { tools: ['mystery'] });
    assert.deepEqual(named, { tools: ['mystery'], side_effect_level: 'network' });
  });

  test('reports limits that came down when it narrows [S2-24]', () => {
    const { overreach } = narrowPolicies(
      { side_effect_level: 'read_only', recursion_limit: 1 },
      { side_effect_level: 'network', recursion_limit: 5 },
    );
    assert.deepEqual(overreach, ['side_effect_level: network', 'recursion_limit: 5']);
  });
});
