/**
 * What programs print and files contain passes every exit byte for byte, whatever it looks like; a known secret passes
 * none, and the answer says how often it was masked.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../src/contracts/tool.ts';
import { createRepository, openGitRuntime } from './git-repository.ts';

const SECRET = 'Known-Secret_4711';

/** Each of them was changed by a guess once, or looks as if it could be. */
const SUSPICIOUS = [
  ...['if (token === undefined) return;', 'PWD=/srv OLDPWD=/', 'a file whose name holds a secret:1', '[redacted]'],
  ...['password: hunter2', '"api_key": "x"', 'Authorization: Bearer abcdefghijklmnop', 'https://me:pw@host/?token=1'],
  ...['\u001b[31mred\u001b[0m', '\u001b]0;title\u0007', '\r', '\t', '\ufeff', '€', '😀', 'e\u0301'],
  ...[`ghp_${'a1'.repeat(18)}`, `AKIA${'ABCDEFGH23456789'}`, `eyJ${'a1'.repeat(9)}.eyJ${'b2'.repeat(9)}.c3`],
  ...['-----BEGIN PRIVATE KEY-----', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', '-----END PRIVATE KEY-----', '\n', '\n', '\n'],
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...SUSPICIOUS), fc.string({ unit: 'grapheme', maxLength: 12 })), { maxLength: 60 })
  .map((parts) => `begin\n${parts.join(' ')}\nend\n`.toWellFormed());

const fails = defineTool({
  name: 'probe_fails',
  category: 'test',
  title: 'Fails',
  summary: 'Warns and fails with what it is given',
  args: z.strictObject({ said: z.string() }),
  data: z.strictObject({}),
  annotations: { kind: 'read', side_effect_level: 'read_only' },
  effect: 'read',
  risk: 'low',
  timeoutMs: 60_000,
  run({ said }, { warn }) {
    warn({ code: 'E_FILE_IO', message: said, details: { said: [said] } });
    return {};
  },
});

describe('output and contents', () => {
  const server = createServer((_, response) => response.end(served));
  let served = '';
  let url = '';
  let repository: ReturnType<typeof createRepository>;
  let runtime: Awaited<ReturnType<typeof openGitRuntime>>;

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    url = `http://${host}/`;
    repository = createRepository({ files: { 'a.txt': 'begin\n' } });
    const registry = `version: 1\nnetwork: {allowed_domains: ['${host}']}\nshell_allow: ['^cat( |$)', '^tee( |$)']\n`;
    runtime = await openGitRuntime(repository, { registry, secrets: [SECRET], tools: [fails] });
  });
  after(async () => {
    await runtime.dispose();
    repository.dispose();
    server.close();
  });

  /** The text as it comes out of each exit. */
  async function exits(content: string): Promise<Readonly<Record<string, [string, ToolResponse]>>> {
    writeFileSync(join(repository.folder, 'a.txt'), content);
    served = content;
    const call = (tool: string, args: JsonObject) => runtime.session.call(tool, args);
    const pick = (answer: ToolResponse, key: string): [string, ToolResponse] => {
      assert.deepEqual(answer.errors, []);
      return [String((answer.data as JsonObject | null)?.[key]), answer];
    };
    const streams = await call('shell_exec', { cmd: 'cat a.txt | tee /dev/stderr' });
    const warned = await call('probe_fails', { said: content });
    const polled = await call('shell_exec', { cmd: 'cat a.txt; cat', yield_after_ms: 0 });
    const grep = await call('grep', { pattern: '^end$', glob: 'a.txt', case_sensitive: true });
    const line = content.split('\n').length - 1;
    assert.deepEqual(grep.errors, []);
    const hit = ((grep.data as JsonObject)['matches'] as readonly JsonObject[] | undefined)?.at(-1);
    assert.equal(hit?.['line'], line, JSON.stringify(grep.data));
    return {
      file_read: pick(await call('file_read', { path: 'a.txt', encoding: 'utf-8' }), 'content'),
      stdout: pick(streams, 'stdout'),
      stderr: pick(streams, 'stderr'),
      curl: pick(await call('curl', { url, as_text: true }), 'text'),
      warning: [warned.warnings[0]?.message ?? '', warned],
      'details of a warning': [String((warned.warnings[0]?.details?.['said'] as string[] | undefined)?.[0]), warned],
      job: await jobText(polled),
    };
  }

  async function jobText(started: ToolResponse): Promise<[string, ToolResponse]> {
    const { job, stdout } = started.data as { job: string; stdout: string };
    await runtime.session.call('job_input', { job, end: true });
    let printed = stdout;
    for (;;) {
      const polled = await runtime.session.call('job_poll', { job, wait_ms: 60_000 });
      const data = polled.data as { stdout: string; state: string };
      printed += data.stdout;
      if (data.state !== 'running') return [printed, polled];
    }
  }

  test('text without a known secret passes every exit byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        for (const [exit, [shown, answer]] of Object.entries(await exits(content))) {
          assert.equal(shown, content, exit);
          assert.equal(answer.redacted, undefined, exit);
        }
      }),
      { numRuns: 10 },
    );
    const lines = SUSPICIOUS.filter((line) => line.trim() === line && line !== '' && !line.includes('\n'));
    writeFileSync(join(repository.folder, 'a.txt'), lines.join('\n'));
    const diff = await runtime.session.call('git_diff', {});
    assert.equal(diff.redacted, undefined);
    for (const line of lines)
      assert.ok(JSON.stringify(diff.data).includes(JSON.stringify(`+${line}`).slice(1, -1)), line);
  });

  test('a known secret passes none, is counted in the answer, and the rest stays as it is', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        const shown = `${one}[redacted]${other}`;
        for (const [exit, [printed, answer]] of Object.entries(await exits(`${one}${SECRET}${other}`))) {
          assert.equal(printed, shown, exit);
          assert.ok(!JSON.stringify(answer).includes(SECRET), exit);
          if (exit !== 'job') assert.ok((answer.redacted ?? 0) >= 1, exit);
        }
      }),
      { numRuns: 5 },
    );
    const diff = await runtime.session.call('git_diff', {});
    assert.ok(!JSON.stringify(diff).includes(SECRET) && (diff.redacted ?? 0) >= 1);
    const results = [...runtime.runtime.records()].filter(({ kind }) => kind === 'result') as { redacted?: number }[];
    assert.ok(results.some(({ redacted = 0 }) => redacted >= 1));
    assert.ok(!JSON.stringify(results).includes(SECRET));
  });
});
