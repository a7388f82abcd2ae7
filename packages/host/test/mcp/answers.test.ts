/** What official clients get: large, cut, failing, warned, picture and denied answers, for models and for programs. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { createScratch, FROM_SOURCE } from '../run-cli.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const REGISTRY = `version: 1
shell_allow: ['^node print\\.js$', '^node fail\\.js$']
validators:
  - rule: code.ast.parsed
    enforcement: warning
`;

interface Stage {
  readonly client: Client;
  call(name: string, args: Record<string, unknown>): Promise<CallToolResult>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function openStage(profile: string): Promise<Stage> {
  const scratch = createScratch();
  scratch.write('a.ts', 'const a = "one";\nconst b = 2;\n');
  scratch.write('big.txt', `${'needle and some words around it\n'.repeat(160_000)}`);
  scratch.write('print.js', 'for (let at = 1; at <= 60000; at++) console.log(at);');
  scratch.write('fail.js', 'console.log("noise\\n".repeat(5000)); console.log("not ok 7 - adds"); process.exit(1);');
  writeFileSync(join(scratch.workspace, 'dot.png'), Buffer.from(PNG, 'base64'));
  const registry = join(scratch.root, 'registry.yaml');
  writeFileSync(registry, REGISTRY);
  const client = new Client({ name: 'answers', version: '1' });
  const args = [...FROM_SOURCE, 'mcp', ...scratch.options, '--registry', registry, '--profile', profile];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: COMPILE_CACHE, stderr: 'ignore' }),
  );
  await client.listTools();
  return {
    client,
    call: (name, given) => client.callTool({ name, arguments: given }),
    async [Symbol.asyncDispose]() {
      await client.close();
      scratch[Symbol.dispose]();
    },
  };
}

function textOf({ content }: CallToolResult): string {
  const [first] = content;
  assert.ok(first?.type === 'text');
  return first.text;
}

function priceOf({ _meta }: CallToolResult): { bytes: number; tokens: number; cut: boolean } {
  return _meta?.['tool-runtime/price'] as { bytes: number; tokens: number; cut: boolean };
}

describe('answers for a model', () => {
  test('contents are text alone, with a price', async () => {
    await using stage = await openStage('full');
    const read = await stage.call('file_read', { path: 'a.ts', line_numbers: true });
    assert.equal(read.structuredContent, undefined);
    assert.match(textOf(read), /^a\.ts: 2 lines, 30 bytes, sha256 \w{64}\n1 {2}const a = "one";\n2 {2}const b = 2;$/);
    assert.deepEqual(priceOf(read), {
      bytes: textOf(read).length,
      tokens: Math.ceil(textOf(read).length / 4),
      cut: false,
    });
    const picture = await stage.call('file_read', { path: 'dot.png' });
    assert.deepEqual(picture.content[1], { type: 'image', data: PNG, mimeType: 'image/png' });
    const facts = await stage.call('file_write', { path: 'c.ts', content: 'x' });
    assert.equal((facts.structuredContent as { created: boolean }).created, true);
    assert.match(textOf(facts), /^created c\.ts: 1 byte written/);
  });

  test('what is too long is cut between lines, and the call that is named returns the rest', async () => {
    await using stage = await openStage('core');
    const first = await stage.call('file_read', { path: 'big.txt', max_bytes: 20_000_000 });
    assert.ok(priceOf(first).cut && priceOf(first).tokens <= 25_000);
    const [, last, rest] =
      /\[cut: lines 1 to (\d+) of 160000 shown, .* Rest: file_read (\{.*\})\]$/.exec(textOf(first)) ?? [];
    assert.ok(rest !== undefined, textOf(first).slice(-300));
    const second = await stage.call('file_read', JSON.parse(rest) as Record<string, unknown>);
    assert.match(textOf(second), new RegExp(`^big\\.txt: lines ${Number(last) + 1} to `));
    const hits = await stage.call('grep', { pattern: 'needle', max_results: 100_000 });
    assert.ok(priceOf(hits).cut && priceOf(hits).tokens <= 25_000);
    assert.match(textOf(hits), /^100000 matches in 1 file; more than max_results/);
  });

  test('output begins with the exit code, then the failures, and keeps both ends', async () => {
    await using stage = await openStage('core');
    const failed = textOf(await stage.call('shell_exec', { cmd: 'node fail.js' }));
    assert.match(failed, /^exit 1.*\nfailures found in the output below:\n {2}not ok 7 - adds\n/);
    const printed = textOf(await stage.call('shell_exec', { cmd: 'node print.js' }));
    assert.match(printed, /^exit 0.*\n(?:.*\n)*?1\n2\n/);
    assert.match(printed, /\[cut: lines \d+ to \d+ of 60000 left out here/);
    assert.match(printed, /\n59999\n60000(?:\n|$)/);
  });

  test('warnings and refusals are in the text', async () => {
    await using stage = await openStage('core');
    const past = await stage.call('file_read', { path: 'a.ts', offset: 99 });
    assert.match(textOf(past), /^warning: E_FILE_IO: File has only 2 lines: a\.ts\na\.ts: /);
    const warned = await stage.call('file_write', {
      path: 'b.ts',
      content: 'const = ;\n',
    });
    assert.match(textOf(warned), /^warning: E_\w+: .*\n(?:.*\n)*rule: code\.ast\.parsed\n/);
    assert.match(JSON.stringify((warned.structuredContent as { warnings: string[] }).warnings), /code\.ast\.parsed/);
    const denied = await stage.call('file_read', { path: '../x' });
    assert.ok(denied.isError === true && denied.structuredContent === undefined);
    assert.match(textOf(denied), /^E_POLICY: .*\n(?:.*\n)*next: /);
  });
});

test('answers for a program have structure that the official client accepts, however large', async () => {
  await using stage = await openStage('structured');
  const read = await stage.call('file_read', { path: 'a.ts' });
  assert.equal((read.structuredContent as { content: string }).content, 'const a = "one";\nconst b = 2;\n');
  const hits = await stage.call('grep', { pattern: 'needle', max_results: 100_000 });
  const { matches, truncated } = hits.structuredContent as { matches: unknown[]; truncated: boolean };
  assert.ok(matches.length > 1000 && matches.length < 100_000 && truncated && priceOf(hits).cut);
  const whole = await stage.call('file_read', { path: 'big.txt', max_bytes: 20_000_000 });
  assert.equal((whole.structuredContent as { truncated: boolean }).truncated, true);
});
