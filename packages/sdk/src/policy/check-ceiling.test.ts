import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { completeAnnotations, SIDE_EFFECT_LEVELS, type ToolAnnotationsInput } from '../contracts/annotations.ts';
import type { CapabilityPolicy } from '../contracts/registry.ts';
import { type CeilingSubject, compileCeiling } from './check-ceiling.ts';

function subject(tool: string, input?: ToolAnnotationsInput): CeilingSubject {
  const annotations = completeAnnotations(input);
  const { kind, side_effect_level } = annotations;
  return {
    tool,
    annotated: input !== undefined,
    annotations,
    profile: { kind, side_effect_level, effect: 'read', risk: 'low' },
  };
}

function verdict(policy: CapabilityPolicy, call: CeilingSubject): unknown {
  try {
    compileCeiling(policy).check(call);
    return 'pass';
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    assert.equal(thrown.code, 'E_POLICY');
    assert.equal(thrown.details['gate'], 'ceiling');
    assert.equal(typeof thrown.details['next'], 'string');
    return thrown.details['reason'];
  }
}

const reader: ToolAnnotationsInput = {
  kind: 'read',
  side_effect_level: 'read_only',
  capabilities: { workspace: ['read_text'] },
};

describe('compileCeiling', () => {
  test('what a tool says of one call proves nothing while it is not annotated [S2-18]', () => {
    const annotated = subject('t', reader);
    assert.equal(verdict({ side_effect_level: 'network' }, { ...annotated, annotated: false }), 'side_effect_ceiling');
    assert.equal(verdict({ side_effect_level: 'network' }, annotated), 'pass');
  });

  test('asks the tool list first, then capabilities, then the level [S2-17 S2-18]', () => {
    const call = subject('file_read', reader);
    assert.equal(verdict({ tools: [], capabilities: {}, side_effect_level: 'none' }, call), 'tool_not_listed');
    assert.equal(
      verdict({ tools: ['file_*'], capabilities: {}, side_effect_level: 'none' }, call),
      'capability_not_allowed',
    );
    assert.equal(
      verdict({ tools: ['file_*'], capabilities: { workspace: ['read_text'] }, side_effect_level: 'none' }, call),
      'side_effect_ceiling',
    );
    assert.equal(
      verdict({ tools: ['file_*'], capabilities: { workspace: ['read_text'] }, side_effect_level: 'read_only' }, call),
      'pass',
    );
    assert.equal(verdict({}, call), 'pass');
  });

  test('needs every operation of every capability [S2-17]', () => {
    const call = subject('t', { ...reader, capabilities: { workspace: ['read_text', 'list'], process: ['spawn'] } });
    assert.equal(
      verdict({ capabilities: { workspace: ['read_text'], process: ['spawn'] } }, call),
      'capability_not_allowed',
    );
    assert.equal(verdict({ capabilities: { workspace: ['read_text', 'list'] } }, call), 'capability_not_allowed');
    assert.equal(
      verdict({ capabilities: { workspace: ['list', 'read_text', 'x'], process: ['spawn'] } }, call),
      'pass',
    );
    const hostile = subject('t', { ...reader, capabilities: { toString: [] } });
    assert.equal(verdict({ capabilities: {} }, hostile), 'capability_not_allowed');
  });

  test('passes a level exactly up to the ceiling [S2-18]', () => {
    const levels = SIDE_EFFECT_LEVELS.slice(1);
    for (const [rank, ceiling] of levels.entries()) {
      for (const [at, level] of levels.entries()) {
        const call = subject('t', { kind: 'execute', side_effect_level: level });
        const expected = at <= rank ? 'pass' : 'side_effect_ceiling';
        assert.equal(verdict({ side_effect_level: ceiling }, call), expected, `${level} under ${ceiling}`);
        assert.equal(verdict({ tools: ['t'], side_effect_level: ceiling }, call), expected, `${level}, named`);
      }
    }
  });

  test('holds an unannotated tool above every ceiling unless its exact name is listed [S2-18]', () => {
    const call = subject('mystery');
    assert.equal(verdict({ side_effect_level: 'network' }, call), 'side_effect_ceiling');
    assert.equal(verdict({ tools: ['*'], side_effect_level: 'network' }, call), 'side_effect_ceiling');
    assert.equal(verdict({ tools: ['myst{ery,}'], side_effect_level: 'network' }, call), 'side_effect_ceiling');
    assert.equal(verdict({ tools: ['mystery'], side_effect_level: 'none' }, call), 'pass');
    assert.equal(
      verdict({ tools: ['mystery'], explicit_tools: [], side_effect_level: 'none' }, call),
      'side_effect_ceiling',
    );
    assert.equal(verdict({}, call), 'pass');
  });

  test('passes level none only for a thinking or an explicitly listed tool [S2-18]', () => {
    const policy: CapabilityPolicy = { tools: ['*'], side_effect_level: 'network' };
    assert.equal(verdict(policy, subject('t', { kind: 'read', side_effect_level: 'none' })), 'side_effect_ceiling');
    assert.equal(verdict(policy, subject('t', { kind: 'think', side_effect_level: 'none' })), 'pass');
    assert.equal(verdict({ ...policy, tools: ['t'] }, subject('t', { kind: 'read' })), 'pass');
  });

  test('judges the profile of the call, while the rest is remembered per tool [S2-18]', () => {
    const ceiling = compileCeiling({ side_effect_level: 'process_exec' });
    const call = subject('shell', { kind: 'execute', side_effect_level: 'network' });
    assert.throws(() => ceiling.check(call), isToolError);
    ceiling.check({ ...call, profile: { ...call.profile, side_effect_level: 'process_exec' } });
    assert.throws(() => ceiling.check(call), isToolError);
  });

  test('does not confuse two tools that share a name [S2-16]', () => {
    const ceiling = compileCeiling({ capabilities: { workspace: ['read_text'] } });
    ceiling.check(subject('t', reader));
    assert.throws(() => ceiling.check(subject('t', { ...reader, capabilities: { process: ['spawn'] } })), isToolError);
    ceiling.check(subject('t', reader));
  });

  test('a renamed tool meets the same verdict [S2-16]', () => {
    for (const tool of ['file_read', 'renamed', 'x']) {
      assert.equal(verdict({ side_effect_level: 'read_only' }, subject(tool, reader)), 'pass');
      assert.equal(verdict({ side_effect_level: 'none' }, subject(tool, reader)), 'side_effect_ceiling');
    }
  });
});
