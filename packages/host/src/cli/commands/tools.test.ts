import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

const REGISTRY = 'version: 1\ntools:\n  file_write:\n    enabled: false\n';

describe('tool-runtime tools', () => {
  test('lists what may be called, and the rest with the reason and the line that hides it', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', REGISTRY);
    const { code, stdout, stderr } = await runCli(['tools', ...scratch.options]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^file_read +Read .* \(read_only\)$/m);
    assert.match(stdout, /^file_write +hidden: Tool is switched off .*\(tool-runtime\.yaml:4\)$/m);
  });

  test('prints the same as one JSON value', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', REGISTRY);
    const { code, stdout } = await runCli(['tools', '--json', ...scratch.options]);
    assert.equal(code, 0);
    assert.equal(stdout.trimEnd().includes('\n'), false);
    const { tools, hidden } = JSON.parse(stdout) as { tools: { name: string }[]; hidden: object[] };
    assert.ok(tools.some(({ name }) => name === 'file_read'));
    assert.ok(!tools.some(({ name }) => name === 'file_write'));
    assert.deepEqual(
      hidden.filter((tool) => 'name' in tool && tool.name === 'file_write'),
      [
        {
          name: 'file_write',
          reason: 'Tool is switched off in the registry: file_write',
          registry: 'tool-runtime.yaml:4',
        },
      ],
    );
  });

  test('shows one tool with its schemas', async () => {
    using scratch = createScratch();
    const { code, stdout } = await runCli(['tools', 'file_read', ...scratch.options]);
    const tool = JSON.parse(stdout);
    const forms = tool.argsSchema.properties.path.anyOf.map(({ type }: { type: string }) => type);
    assert.deepEqual([code, tool.name, forms], [0, 'file_read', ['string', 'array']]);
    assert.ok(tool.dataSchema.properties.sha256);
  });

  test('ends with 1 for a tool that is hidden or unknown, and says which (deep)', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', REGISTRY);
    const hidden = await runCli(['tools', 'file_write', '--json', ...scratch.options]);
    assert.deepEqual([hidden.code, JSON.parse(hidden.stdout).registry], [1, 'tool-runtime.yaml:4']);
    const unknown = await runCli(['tools', 'file_rite', ...scratch.options]);
    assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
    assert.match(unknown.stderr, /^error No such tool: file_rite\n/);
  });

  test('--cost prints tokens of each definition and of the profiles, core below 4,000 (deep)', async () => {
    using scratch = createScratch();
    const { code, stdout } = await runCli(['tools', '--cost', '--json', ...scratch.options]);
    assert.equal(code, 0);
    const { tools, profiles } = JSON.parse(stdout) as {
      tools: { name: string; tokens: number; tokens_with_output: number }[];
      profiles: { profile: string; tokens: number }[];
    };
    assert.ok(tools.every(({ tokens, tokens_with_output }) => tokens > 0 && tokens_with_output > tokens));
    assert.deepEqual(
      profiles.map(({ profile }) => profile),
      ['core', 'read-only', 'full', 'structured'],
    );
    assert.ok((profiles[0]?.tokens ?? 4000) < 4000);
    const text = await runCli(['tools', '--cost', ...scratch.options]);
    assert.match(text.stdout, /^ +\d+ {2}ast_edit +\d+ with output schema\n/);
    assert.match(text.stdout, /\n +\d+ {2}profile structured +\d+ tools, with output schemas\n$/);
    const one = await runCli(['tools', 'file_read', '--cost', ...scratch.options]);
    assert.match(one.stdout, /^ +\d+ {2}file_read +\d+ with output schema\n$/);
    assert.equal((await runCli(['tools', 'nothing', '--cost', ...scratch.options])).code, 1);
  });
});
