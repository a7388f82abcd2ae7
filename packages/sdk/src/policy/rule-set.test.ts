import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { completeAnnotations } from '../contracts/annotations.ts';
import type { RegistrySpot } from '../contracts/registry.ts';
import { defineRule, type RuleContext, type RuleDefinition, type RuleSubject } from '../contracts/rule.ts';
import { compileRules } from './rule-set.ts';

const subject: RuleSubject = {
  tool: 'any',
  args: {},
  paths: [],
  urls: [],
  commands: [],
  environments: [],
  profile: { kind: 'edit', side_effect_level: 'workspace_write', effect: 'write', risk: 'low' },
  changes: [],
};

function rule(id: string, extra: Partial<RuleDefinition> = {}): RuleDefinition {
  return defineRule({
    id,
    category: 'Test',
    description: 'A test rule',
    phase: 'before',
    trigger: 'always',
    defaultEnforcement: 'blocking',
    appliesTo: () => true,
    check: () => [{ message: `${id} violated`, path: 'p', next: 'do better' }],
    ...extra,
  });
}

function registry(...listed: [string, 'blocking' | 'warning' | 'suggestion'][]) {
  return {
    validators: new Map(listed.map(([id, enforcement]) => [id, { rule: id, enforcement }])),
    spot: (path: string): RegistrySpot => ({
      file: 'r.yaml',
      line: 10 + listed.findIndex(([id]) => path === `validators.${id}`),
      column: 1,
    }),
  } as never;
}

const context = {
  registry: registry(),
  workspace: {} as never,
  signal: new AbortController().signal,
  ast: undefined,
} as unknown as RuleContext;

describe('4.12 the rules in force [S0-72]', () => {
  test('4.12 a listed rule runs at its level; an unlisted one is off unless it is always on', async () => {
    const rules = [rule('listed'), rule('unlisted'), rule('sec.always', { always: true })];
    const report = await compileRules(rules, registry(['listed', 'warning'])).run('before', subject, context);
    assert.deepEqual(
      report.warnings.map((warning) => warning.details?.['rule']),
      ['listed'],
    );
    assert.equal(report.blocking?.details['rule'], 'sec.always');
  });

  test('blocking stops, warning and suggestion are only told, each with its line [S0-72]', async () => {
    const set = compileRules(
      [rule('a'), rule('b'), rule('c')],
      registry(['a', 'suggestion'], ['b', 'warning'], ['c', 'blocking']),
    );
    const report = await set.run('before', subject, context);
    assert.deepEqual(
      report.warnings.map((warning) => warning.details?.['registry']),
      ['r.yaml:10', 'r.yaml:11'],
    );
    assert.deepEqual(report.blocking?.toEntry(), {
      code: 'E_VALIDATION_FAIL',
      message: 'c violated',
      path: 'p',
      details: {
        gate: 'rule',
        rule: 'c',
        enforcement: 'blocking',
        registry: 'r.yaml:12',
        next: 'do better',
        kind: 'tool_failure',
        retry: 'not_retryable',
      },
    });
  });

  test('only a rule that says so can be passed over, and then with its reason [S0-66]', async () => {
    const overrides = { open: 'agreed with ann', shut: 'agreed with ann' };
    const set = compileRules(
      [rule('open', { overridable: true }), rule('shut')],
      registry(['open', 'blocking'], ['shut', 'blocking']),
    );
    const asked = { ...subject, git: { verb: 'commit', overrides } } as RuleSubject;
    const report = await set.run('before', asked, context);
    assert.equal(report.blocking?.details['rule'], 'shut');
    assert.deepEqual(
      report.warnings.map((warning) => warning.details?.['override']),
      ['agreed with ann'],
    );
    assert.throws(() => set.checkOverrides(overrides), { message: 'Rule cannot be passed over: shut' });
    assert.throws(() => set.checkOverrides({ unknown: 'x' }), { message: 'Rule cannot be passed over: unknown' });
    set.checkOverrides({ open: 'agreed with ann' });
  });

  test('a rule that throws counts as violated', async () => {
    const broken = rule('broken', {
      check: () => {
        throw new TypeError('cannot look');
      },
    });
    const report = await compileRules([broken], registry(['broken', 'blocking'])).run('before', subject, context);
    assert.match(report.blocking?.message ?? '', /could not be checked/);
  });

  test('phases are kept apart, and a rule that does not apply is not run', async () => {
    const set = compileRules([rule('a', { phase: 'after', appliesTo: () => false })], registry(['a', 'blocking']));
    assert.equal(set.has('after'), true);
    assert.equal(set.has('before'), false);
    assert.equal(set.applies('after', subject), false);
    assert.equal((await set.run('after', subject, context)).blocking, undefined);
  });

  test('rules about other tools and other kinds of arguments are not even asked', async () => {
    const asked: string[] = [];
    const counted = (id: string, extra: Partial<RuleDefinition>) =>
      rule(id, { ...extra, appliesTo: () => asked.push(id) > 0, check: () => [] });
    const { arg_schema: schema } = completeAnnotations({ arg_schema: { path_params: ['path'] } });
    const set = compileRules(
      [
        counted('same-tool', { tools: ['other', 'any'] }),
        counted('other-tool', { tools: ['other'] }),
        counted('paths', { looksAt: ['urls', 'paths'] }),
        counted('urls', { looksAt: ['urls'] }),
        counted('all', {}),
      ],
      registry(
        ...['same-tool', 'other-tool', 'paths', 'urls', 'all'].map((id) => [id, 'blocking'] as [string, 'blocking']),
      ),
      (tool) => (tool === 'any' ? schema : undefined),
    );
    await set.run('before', subject, context);
    assert.deepEqual(asked, ['same-tool', 'paths', 'all']);

    asked.length = 0;
    await set.run('before', { ...subject, tool: 'other' }, context);
    assert.deepEqual(
      asked,
      ['same-tool', 'other-tool', 'paths', 'urls', 'all'],
      'a tool that is not known could carry anything',
    );
  });
});
