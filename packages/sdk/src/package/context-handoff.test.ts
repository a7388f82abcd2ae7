import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolicyRef } from '../contracts/refs.ts';
import {
  type ContextHandoff,
  handoffContentRefs,
  handoffPolicyRefs,
  handoffSchema,
  NO_HANDOFF,
  validateHandoff,
} from './context-handoff.ts';

const policy_ref: PolicyRef = { kind: 'context', id: 'policy.handoff' };
const summary_ref = { id: 'content.summary', digest: 'sha256:aa', bytes: 12 };
const refs = [{ id: 'content.a' }, { id: 'content.b' }];

const summary = { type: 'summary_only', summary_ref, max_tokens: 1, policy_ref } as const;
const selected = { type: 'selected_refs', refs, policy_ref } as const;
const history = { type: 'full_history_with_policy', policy_ref, projection_audit_required: true } as const;
const handoffs: readonly ContextHandoff[] = [NO_HANDOFF, summary, selected, history];

const violation = (field: string) => ({
  code: 'E_VALIDATION_FAIL',
  message: new RegExp(`: ${field.replaceAll(/[.[\]]/g, '\\$&')}$`),
});
const kindOf = (handoff: ContextHandoff): unknown => {
  try {
    validateHandoff(handoff);
    return 'valid';
  } catch (thrown) {
    return (thrown as { details: { kind: unknown } }).details.kind;
  }
};

describe('validateHandoff', () => {
  test('accepts each variant in good order, and none always [S3-1 S3-2]', () => {
    for (const handoff of handoffs) validateHandoff(handoff);
    validateHandoff({ type: 'none' });
  });

  test('refuses a summary without a positive whole token budget [S3-3]', () => {
    for (const max_tokens of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.throws(() => validateHandoff({ ...summary, max_tokens }), violation('handoff.summary_only.max_tokens'));
      assert.equal(kindOf({ ...summary, max_tokens }), 'invalid_state_transition');
    }
    validateHandoff({ ...summary, max_tokens: 100_000 });
  });

  test('refuses a selection of nothing [S3-4]', () => {
    assert.throws(() => validateHandoff({ ...selected, refs: [] }), violation('handoff.selected_refs.refs'));
    assert.equal(kindOf({ ...selected, refs: [] }), 'invalid_state_transition');
    validateHandoff({ ...selected, refs: [{ id: 'content.a' }] });
  });

  test('refuses a full history without an audit [S3-5]', () => {
    const unaudited = { ...history, projection_audit_required: false };
    assert.throws(
      () => validateHandoff(unaudited),
      violation('handoff.full_history_with_policy.projection_audit_required'),
    );
    assert.equal(kindOf(unaudited), 'invalid_state_transition');
  });

  test('refuses a host policy in every variant that has one, and names the variant [S3-6]', () => {
    const host: PolicyRef = { kind: 'host', id: 'policy.host' };
    for (const handoff of [summary, selected, history]) {
      const hosted = { ...handoff, policy_ref: host };
      assert.throws(() => validateHandoff(hosted), violation(`handoff.${handoff.type}.policy_ref`));
      assert.equal(kindOf(hosted), 'invalid_state_transition');
    }
  });

  test('tells every problem, that of the variant before that of the policy [S3-3 S3-6]', () => {
    assert.throws(
      () => validateHandoff({ ...summary, max_tokens: 0, policy_ref: { kind: 'host', id: 'policy.host' } }),
      {
        message: 'Token budget is not a positive whole number: handoff.summary_only.max_tokens',
        details: {
          kind: 'invalid_state_transition',
          retry: 'repair_needed',
          field: 'handoff.summary_only.max_tokens',
          problems: [
            'Token budget is not a positive whole number: handoff.summary_only.max_tokens',
            'Policy ref names no policy: handoff.summary_only.policy_ref',
          ],
        },
      },
    );
  });

  test('refuses content refs without an id and unknown variants [S3-1]', () => {
    assert.throws(
      () => validateHandoff({ ...summary, summary_ref: { id: '' } }),
      violation('handoff.summary_only.summary_ref.id'),
    );
    assert.throws(
      () => validateHandoff({ ...selected, refs: [...refs, { id: 'a\nb' }] }),
      violation('handoff.selected_refs.refs[2].id'),
    );
    assert.throws(
      () => validateHandoff({ type: 'everything' } as unknown as ContextHandoff),
      violation('handoff.type'),
    );
  });
});

describe('what a handoff refers to', () => {
  test('is one policy, or none [S3-7]', () => {
    assert.deepEqual(handoffs.map(handoffPolicyRefs), [[], [policy_ref], [policy_ref], [policy_ref]]);
  });

  test('is the summary, the whole selection, and nothing otherwise [S3-8]', () => {
    assert.deepEqual(handoffs.map(handoffContentRefs), [[], [summary_ref], refs, []]);
  });

  test('is nothing at all for none [S3-10]', () => {
    assert.deepEqual([...handoffPolicyRefs(NO_HANDOFF), ...handoffContentRefs(NO_HANDOFF)], []);
    assert.deepEqual(NO_HANDOFF, { type: 'none' });
    assert.throws(() => Object.assign(NO_HANDOFF, { type: 'full_history_with_policy' }), TypeError);
  });
});

describe('handoffSchema', () => {
  test('reads every variant back by its tag, and none where nothing is given [S3-1 S3-9]', () => {
    for (const handoff of handoffs) {
      assert.deepEqual(handoffSchema.parse(JSON.parse(JSON.stringify(handoff))), handoff);
    }
    assert.deepEqual(
      handoffs.map((handoff) => handoffSchema.parse(handoff).type),
      ['none', 'summary_only', 'selected_refs', 'full_history_with_policy'],
    );
    assert.deepEqual(handoffSchema.parse(undefined), NO_HANDOFF);
  });

  test('refuses unknown tags, unknown members and missing ones [S3-1]', () => {
    const { max_tokens: _tokens, ...unbounded } = summary;
    for (const value of [
      { type: 'SummaryOnly' },
      { type: 'none', summary_ref },
      { ...history, refs },
      { ...selected, refs: ['content.a'] },
      unbounded,
      null,
      'none',
    ]) {
      assert.equal(handoffSchema.safeParse(value).success, false, JSON.stringify(value));
    }
  });

  test('reads a policy without a kind as one that names none [S3-6]', () => {
    const parsed = handoffSchema.parse({ ...selected, policy_ref: { id: 'policy.handoff' } });
    assert.throws(() => validateHandoff(parsed), violation('handoff.selected_refs.policy_ref'));
  });
});
