import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { defineTool } from './contracts/tool.ts';
import type { ToolSource, ToolSourcePorts } from './contracts/tool-source.ts';
import { openScratchRuntime } from './testing/scratch-runtime.ts';

const schema = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };

const echo = defineTool({
  name: 'far_echo',
  category: 'far',
  title: 'Echo',
  summary: 'Says it again',
  args: z.looseObject({}).superRefine(({ word }, context) => {
    if (typeof word !== 'string') context.addIssue({ code: 'custom', path: ['word'], message: 'is no text' });
  }),
  argsJsonSchema: schema,
  data: z.looseObject({}),
  dataJsonSchema: { type: 'object', properties: { said: {} } },
  annotations: { kind: 'read', side_effect_level: 'read_only' },
  effect: 'read',
  risk: 'low',
  asksByDefault: true,
  timeoutMs: 60_000,
  run: ({ word }) => ({ said: word }),
});

function source(onOpen: (ports: ToolSourcePorts) => void = () => {}, onClose = () => {}): ToolSource {
  return {
    toolNames: ['far_*'],
    open(ports) {
      onOpen(ports);
      const warnings = [{ code: 'E_POLICY', message: 'Something to know: far' } as const];
      return { tools: [echo], warnings, close: async () => onClose() };
    },
  };
}

const registry = (more: string) => ({ registry: { text: `version: 1\n${more}\n`, file: 'r.yaml' } });

describe('tool sources', () => {
  test('are opened with the registry in force, and closed with the runtime', async () => {
    let ports: ToolSourcePorts | undefined;
    let closed = 0;
    const onOpen = (given: ToolSourcePorts): void => {
      ports = given;
    };
    const scratch = await openScratchRuntime({
      ...registry('network: {allowed_domains: [a.example]}'),
      sources: [source(onOpen, () => closed++)],
    });
    assert.deepEqual(ports?.registry.allowedDomains, ['a.example']);
    assert.ok(ports?.names.has('file_read'));
    assert.equal(scratch.runtime.warnings.at(-1)?.message, 'Something to know: far');
    await scratch.dispose();
    assert.equal(closed, 1);
  });

  test('bring tools whose own JSON Schema is what listings show', async () => {
    const scratch = await openScratchRuntime({
      ...registry('approvals: {auto_approve: [far_echo]}'),
      sources: [source()],
    });
    const [listing] = scratch.session.tools('far_echo');
    assert.deepEqual(listing?.argsSchema, schema);
    assert.deepEqual(listing?.dataSchema, { type: 'object', properties: { said: {} } });
    assert.deepEqual((await scratch.session.call('far_echo', { word: 'hi' })).data, { said: 'hi' });
    assert.equal((await scratch.session.call('far_echo', { word: 1 })).errors[0]?.code, 'E_VALIDATION_FAIL');
    await scratch.dispose();
  });

  test('bring tools that ask by default, also where no approvals are written', async () => {
    const scratch = await openScratchRuntime({ ...registry(''), sources: [source()] });
    const answer = await scratch.session.call('far_echo', { word: 'hi' });
    assert.equal(answer.errors[0]?.details?.['gate'], 'approval');
    await scratch.dispose();
  });

  test('see the whole workspace, so a session on a folder of it does not get their tools', async () => {
    const scratch = await openScratchRuntime({ ...registry(''), sources: [source()] });
    mkdirSync(join(scratch.workspace, 'inner'));
    const inner = await scratch.runtime.openSession({ capabilities: { workspace_roots: ['inner'] } });
    assert.equal((await inner.call('far_echo', { word: 'hi' })).errors[0]?.details?.['reason'], 'beyond_folder');
    assert.equal(scratch.session.tools('far_echo').length, 1);
    await scratch.dispose();
  });

  test('may be switched off by name in the registry of a session', async () => {
    const scratch = await openScratchRuntime({ ...registry(''), sources: [source()] });
    const text = 'version: 1\ntools: {far_echo: {enabled: false}}\n';
    const session = await scratch.runtime.openSession({ registry: { text, file: 's.yaml' } });
    assert.match(session.hidden().find(({ name }) => name === 'far_echo')?.reason ?? '', /switched off/);
    await scratch.dispose();
  });
});
