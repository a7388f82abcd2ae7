/** `approvals watch` and `serve --ask` in a real pseudo-terminal: keys in, screen out, and what became of the calls. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import { createScratch, runCli, type Scratch } from './run-cli.ts';
import { startServe } from './start-serve.ts';
import { openTerminal } from './terminal.ts';

function writeRegistry(scratch: Scratch): string {
  const file = join(scratch.root, 'registry.yaml');
  writeFileSync(
    file,
    'version: 1\nshell: { mode: sandboxed }\napprovals:\n  require_approval: [file_write, shell_exec]\n',
  );
  return file;
}

async function answerOf(call: Promise<Response>): Promise<ToolResponse> {
  return (await (await call).json()) as ToolResponse;
}

describe('questions on a terminal', () => {
  test('approvals watch: yes, yes for the session, no with a reason, edited arguments, quit', async () => {
    using scratch = createScratch();
    scratch.write('a.txt', 'one\n');
    await using host = await startServe(scratch, '--registry', writeRegistry(scratch));
    const call = await host.openSession({ client: { name: 'test', version: '1.0' } });
    using terminal = openTerminal(['approvals', 'watch', ...scratch.options]);
    await terminal.shows(/waiting for questions/);

    const yes = call('file_write', { path: 'a.txt', content: 'two\n' });
    await terminal.shows(/\n {2}-one\n {2}\+two\n[\s\S]*\[y\] yes/);
    terminal.press('y');
    assert.equal((await answerOf(yes)).ok, true);
    assert.equal(readFileSync(join(scratch.workspace, 'a.txt'), 'utf8'), 'two\n');

    const first = call('shell_exec', { cmd: 'echo one' });
    await terminal.shows(/arguments: \["echo","one"\]\n.*for the session: this command again/);
    terminal.press('s');
    assert.equal((await answerOf(first)).ok, true);
    assert.equal((await answerOf(call('shell_exec', { cmd: 'echo one' }))).ok, true, 'not asked again');

    const no = call('shell_exec', { cmd: 'echo two' });
    await terminal.shows(/\["echo","two"\]/);
    terminal.press('n');
    await terminal.shows(/reason \(Enter for none\)/);
    terminal.press('not today\r');
    assert.match((await answerOf(no)).errors[0]?.message ?? '', /not today/);

    const edited = call('file_write', { path: 'b.txt', content: 'b' });
    await terminal.shows(/\+\+\+ b\.txt/);
    terminal.press('e');
    await terminal.shows(/arguments: \{/);
    // Ctrl-U empties the line. Edited arguments are asked about again.
    terminal.press('\u0015{"path":"c.txt","content":"c"}\r');
    await terminal.shows(/\+\+\+ c\.txt/);
    terminal.press('y');
    assert.equal((await answerOf(edited)).ok, true);
    assert.deepEqual(
      ['b.txt', 'c.txt'].map((name) => existsSync(join(scratch.workspace, name))),
      [false, true],
    );
    terminal.press('q');
    assert.equal(await terminal.ended(), 0);
  });

  test('serve --ask asks on its own terminal; a short id answers from another one', async () => {
    using scratch = createScratch();
    const options = ['--registry', writeRegistry(scratch), ...scratch.options];
    using terminal = openTerminal(['serve', '--http', '127.0.0.1:0', '--json', '--show-token', '--ask', ...options]);
    await terminal.shows(/waiting for questions/);
    const { url, token } = JSON.parse(/\{"url".*\}/.exec(terminal.screen())?.[0] ?? '{}');
    const send = (path: string, body: object): Promise<Response> =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
    const { session_id } = (await (await send('/v1/sessions', {})).json()) as { session_id: string };
    const args = { path: 'a.txt', content: 'x' };
    const request = { type: 'ToolRequest', tool: 'file_write', args, request_id: 'r', session_id, timestamp: 1 };
    const call = send('/v1/call', request);
    await terminal.shows(/\+\+\+ a\.txt[\s\S]*\[y\] yes/);
    const [, id = ''] = /\n(\S{8,}) {2}file_write {2}by/.exec(terminal.screen()) ?? [];
    const answered = await runCli(['approvals', 'deny', id, '--reason', 'elsewhere', ...scratch.options]);
    assert.equal(answered.code, 0, answered.stderr);
    assert.match((await answerOf(call)).errors[0]?.message ?? '', /elsewhere/);
    await terminal.shows(/answered elsewhere/);
    terminal.press('q');
    assert.equal(await terminal.ended(), 0);
  });

  test('approvals watch without a terminal says what to use instead', async () => {
    using scratch = createScratch();
    const { code, stderr } = await runCli(['approvals', 'watch', ...scratch.options]);
    assert.equal(code, 2);
    assert.match(stderr, /needs a terminal[\s\S]*approvals list, allow and deny/);
  });
});
