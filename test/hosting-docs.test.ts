/** What docs/hosting.md says about the host, compared with what it does. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { EVENT_KINDS } from '../packages/host/src/describe/messages.ts';
import { DEFAULT_LIMITS } from '../packages/host/src/sessions/host-limits.ts';
import { createScratch, runCli, startCli } from '../packages/host/test/run-cli.ts';

const root = join(import.meta.dirname, '..');
const hosting = readFileSync(join(root, 'docs/hosting.md'), 'utf8');

/** What differs from one run to the next. */
function shorten(text: string): string {
  return text
    .replaceAll(/trt_[\w-]+…?/g, 'trt_…')
    .replaceAll(/#code=[\w-]+…?/g, '#code=…')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:7411')
    .replaceAll(/[^\s']*\/host\.sock/g, '…/host.sock')
    .replaceAll(/(tool-runtime status) --state \S+/g, '$1')
    .replaceAll(/"duration_ms":[\d.]+/g, '"duration_ms":…')
    .replaceAll(/\b([0-9a-f]{4})[0-9a-f]{56}([0-9a-f]{4})\b/g, '$1…$2');
}

describe('docs/hosting.md', () => {
  test('shows what a started host prints, and a call with the answer it gives', async () => {
    using scratch = createScratch();
    const child = startCli(['serve', '--show-token', '--http', '127.0.0.1:0', '-w', root, '--state', scratch.state]);
    try {
      const printed: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        printed.push(line);
        if (line.includes('tool-runtime status')) break;
      }
      assert.ok(shorten(hosting).includes(shorten(printed.join('\n'))), 'copy what npm start prints into hosting.md');
      const [, url = ''] = /^listening +(\S+)/m.exec(printed.join('\n')) ?? [];
      const [, token = ''] = /^token +(\S+)/m.exec(printed.join('\n')) ?? [];
      const [, script = '', answer = ''] = /```sh\n(TOKEN=.*?)```\s*```\n(.*?)\n```/s.exec(hosting) ?? [];
      const real = script.replace(/^TOKEN=.*/, `TOKEN=${token}`).replaceAll('http://127.0.0.1:7411', url);
      const output = execFileSync('bash', ['-c', real], { encoding: 'utf8', timeout: 300_000 });
      assert.equal(shorten(output), shorten(answer));
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('names every option of serve', async () => {
    const { stdout } = await runCli(['serve', '--help']);
    const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name = '']) => name);
    assert.ok(options.length > 15);
    assert.deepEqual(
      options.filter((name) => name !== '--help' && !hosting.includes(name)),
      [],
    );
  });

  test('names every event', () => {
    assert.deepEqual(
      Object.keys(EVENT_KINDS).filter((name) => !hosting.includes(`\`${name}\``)),
      [],
    );
  });

  test('has the limits that are in force', () => {
    const kib = 1024;
    const rows: Readonly<Record<keyof typeof DEFAULT_LIMITS, string>> = {
      maxConnections: `| connections | ${DEFAULT_LIMITS.maxConnections} |`,
      maxSessions: `(\`--max-sessions\`) | ${DEFAULT_LIMITS.maxSessions} |`,
      maxInFlight: `(\`--max-in-flight\`) | ${DEFAULT_LIMITS.maxInFlight} |`,
      maxWorkspaceCalls: '| calls of one workspace that run or wait, in a [fleet](fleet.md) | 1000 |',
      maxQuestions: `| questions of all sessions that wait for a person | ${DEFAULT_LIMITS.maxQuestions} |`,
      maxAuthFailures: `| failed attempts to authenticate of one source in a minute | ${DEFAULT_LIMITS.maxAuthFailures} |`,
      maxHeaderBytes: `| headers of a request | ${DEFAULT_LIMITS.maxHeaderBytes / kib} KiB |`,
      requestMs: `for a whole request | ${DEFAULT_LIMITS.requestMs / 1000} s |`,
      maxHeldBytes: `| unanswered requests of one connection | ${DEFAULT_LIMITS.maxHeldBytes / kib / kib} MiB |`,
      maxUnsentBytes: `| unsent to one connection | ${DEFAULT_LIMITS.maxUnsentBytes / kib / kib} MiB |`,
      keptEvents: `| events kept per session | ${DEFAULT_LIMITS.keptEvents} |`,
      keptAnswers: `| answers kept on the host | ${DEFAULT_LIMITS.keptAnswers / kib / kib} Mi characters |`,
      heartbeatMs: `| heartbeat of the host | ${DEFAULT_LIMITS.heartbeatMs / 1000} s |`,
      idleMs: `| silence of a session that set no limit | ${DEFAULT_LIMITS.idleMs / 60_000} min |`,
      mcpStreamMs: `| stream of an MCP call, for clients that come back for the rest | ${DEFAULT_LIMITS.mcpStreamMs / 60_000} min |`,
      resumeMs: `| return to a session of one connection | ${DEFAULT_LIMITS.resumeMs / 1000} s |`,
    };
    assert.deepEqual(
      Object.values(rows).filter((row) => !hosting.includes(row)),
      [],
    );
  });
});
