import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import type { ToolAnnotationsInput } from '../contracts/annotations.ts';
import type { Surface, SurfaceTool } from './surface.ts';
import { validateSurface } from './surface.ts';

function tool(name: string, annotations: ToolAnnotationsInput = {}): SurfaceTool {
  return {
    name,
    args: z.object({ path: z.string() }),
    annotations: {
      kind: 'read',
      side_effect_level: 'read_only',
      arg_schema: { path_params: ['path'] },
      ...annotations,
    },
    run: () => undefined,
  };
}

const reader = tool('file_read');
const runner = tool('runner', { kind: 'execute', side_effect_level: 'process_exec', emits_artifacts: true });

function codes(surface: Surface): string[] {
  return validateSurface(surface).diagnostics.map(({ code, severity }) => `${severity} ${code}`);
}

describe('validateSurface', () => {
  test('finds nothing wrong with a sound surface [S2-29]', () => {
    const surface = {
      tools: [reader, tool('file_write', { kind: 'edit', side_effect_level: 'workspace_write' })],
      ceiling: { tools: ['file_*'], side_effect_level: 'workspace_write' as const },
      constraints: [{ tool: 'file_*', arg_patterns: ['src/**'] }],
      approvals: { auto_approve: ['file_read'], write_path_allowlist: ['src/**'] },
      hooks: [{ id: 'h', tools: '*' }],
    };
    assert.deepEqual(validateSurface(surface), { valid: true, diagnostics: [] });
  });

  test('warns about a tool that leaves things unsaid, and stays valid [S2-29]', () => {
    const report = validateSurface({ tools: [{ name: 'bare' }] });
    assert.deepEqual(report, {
      valid: true,
      diagnostics: [
        { code: 'missing_schema', severity: 'warning', message: 'Tool has no argument schema: bare', tool: 'bare' },
        { code: 'missing_executor', severity: 'warning', message: 'Tool has no executor: bare', tool: 'bare' },
        {
          code: 'missing_annotations',
          severity: 'warning',
          message: 'Tool says nothing about itself: bare',
          tool: 'bare',
        },
      ],
    });
    const { run: _run, ...apart } = { ...reader, annotations: { kind: 'read' as const } };
    assert.deepEqual(codes({ tools: [apart], executors: new Set(['file_read']) }), [
      'warning missing_side_effect_level',
    ]);
  });

  test('an execute tool that emits artifacts needs an active declared reader or inline results [S2-21]', () => {
    const readBy = (...result_readers: string[]) => ({
      ...runner,
      annotations: { ...runner.annotations, result_readers },
    });
    const inline = { ...runner, annotations: { ...runner.annotations, inline_result: true } };
    assert.deepEqual(codes({ tools: [runner, reader] }), ['error missing_result_reader']);
    assert.deepEqual(codes({ tools: [readBy('file_read'), reader] }), []);
    assert.deepEqual(codes({ tools: [readBy('file_read', 'gone'), reader] }), ['warning unknown_result_reader']);
    assert.deepEqual(codes({ tools: [inline] }), []);
    const hidden = { tools: [readBy('file_read'), reader], ceiling: { tools: ['runner'] } };
    assert.deepEqual(codes(hidden), ['warning unknown_result_reader', 'error missing_result_reader']);
    assert.equal(validateSurface(hidden).valid, false);
    assert.deepEqual(codes({ tools: [runner, reader], ceiling: { tools: ['file_read'] } }), []);
  });

  test('reports constraints that match no tool, no key, or no argument [S2-29]', () => {
    const bare = tool('proc_list', { arg_schema: {} });
    const constraints = [
      { tool: 'gone_*', arg_patterns: ['x'] },
      { tool: 'file_read', arg_patterns: ['x'], arg_key: 'nonsense' },
      { tool: 'file_read', arg_patterns: ['x'], arg_key: 'path' },
      { tool: '*', arg_patterns: ['x'] },
      { tool: '*', arg_patterns: ['['], arg_key: 'path' },
      { tool: '[', arg_patterns: ['x'] },
    ];
    const report = validateSurface({ tools: [reader, bare], ceiling: { tool_arg_constraints: constraints } });
    assert.deepEqual(
      report.diagnostics.map(({ code, severity, field, tool: name }) => [code, severity, field, name]),
      [
        ['unknown_arg_constraint_tool', 'warning', 'arg_constraints.0', undefined],
        ['unknown_arg_constraint_key', 'warning', 'arg_constraints.1', undefined],
        ['unresolvable_arg_constraint', 'error', 'arg_constraints.3', 'proc_list'],
        ['invalid_pattern', 'error', 'arg_constraints.4.arg_patterns', undefined],
        ['invalid_pattern', 'error', 'arg_constraints.5', undefined],
      ],
    );
    const jsonSchema = { ...reader, args: { type: 'object', properties: { path: {} } } };
    assert.deepEqual(codes({ tools: [jsonSchema], constraints: [{ tool: '*', arg_patterns: [], arg_key: 'p' }] }), [
      'warning unknown_arg_constraint_key',
    ]);
  });

  test('does not hold a constraint against a tool that is hidden anyway [S2-29]', () => {
    const bare = tool('proc_list', { arg_schema: {} });
    const constraints = [{ tool: '*', arg_patterns: ['x'] }];
    assert.deepEqual(codes({ tools: [reader, bare], ceiling: { tools: ['file_read'] }, constraints }), []);
  });

  test('reports approval and hook patterns that match nothing or cannot be read [S2-29]', () => {
    const surface = {
      tools: [reader],
      approvals: {
        auto_approve: ['file_read', 'x'],
        auto_deny: ['y'],
        require_approval: ['{'],
        write_path_allowlist: ['}'],
      },
      hooks: [{ id: 'h', tools: 'z*' }],
    };
    assert.deepEqual(
      validateSurface(surface).diagnostics.map(({ code, field }) => [code, field]),
      [
        ['approval_pattern_matches_nothing', 'approvals.auto_approve.1'],
        ['approval_pattern_matches_nothing', 'approvals.auto_deny.0'],
        ['invalid_pattern', 'approvals.require_approval.0'],
        ['invalid_pattern', 'approvals.write_path_allowlist'],
        ['hook_pattern_matches_nothing', 'hooks.h'],
      ],
    );
    assert.deepEqual(codes({ tools: [reader], ceiling: { tools: ['['] } }), ['error invalid_pattern']);
  });

  test('a ceiling hides what exceeds it, and contradicts itself only for tools asked for by name [S2-29]', () => {
    const push = tool('push', { kind: 'execute', side_effect_level: 'network' });
    const ceiling = { side_effect_level: 'read_only' as const };
    assert.deepEqual(codes({ tools: [push], ceiling }), []);
    assert.deepEqual(codes({ tools: [push], ceiling: { ...ceiling, tools: ['*'] } }), []);
    assert.deepEqual(codes({ tools: [push], ceiling: { ...ceiling, tools: ['push'] } }), [
      'error side_effect_ceiling_exceeded',
    ]);
    assert.deepEqual(codes({ tools: [push], ceiling, enabled: ['push'] }), ['error side_effect_ceiling_exceeded']);
    const narrowing = { ...push, profile: () => ({ side_effect_level: 'read_only' }) };
    assert.deepEqual(codes({ tools: [narrowing], ceiling, enabled: ['push'] }), []);
  });

  test('warns when a reading kind declares a writing level, fetching over the network excepted [S2-29]', () => {
    const levels = (kind: 'read' | 'fetch' | 'edit', side_effect_level: 'network' | 'workspace_write') =>
      codes({ tools: [tool('t', { kind, side_effect_level })] });
    assert.deepEqual(levels('read', 'network'), ['warning kind_level_mismatch']);
    assert.deepEqual(levels('read', 'workspace_write'), ['warning kind_level_mismatch']);
    assert.deepEqual(levels('fetch', 'workspace_write'), ['warning kind_level_mismatch']);
    assert.deepEqual(levels('fetch', 'network'), []);
    assert.deepEqual(levels('edit', 'workspace_write'), []);
  });
});
