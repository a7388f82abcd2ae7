/** The conformance suite for tool runtimes against our own servers: everything that applies passes, for root and for others. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { SuiteResult } from '../packages/conformance/src/run-suite.ts';
import { ensureBuilt } from '../packages/host/test/ensure-built.ts';

const ROOT = path.join(import.meta.dirname, '..');
const at = (name: string): string => path.join(ROOT, 'packages', name);
/** The id that systems give to a user without files. */
const ORDINARY_USER = 65534;

interface User {
  readonly title: string;
  readonly id?: number;
}

const USERS: readonly User[] =
  process.getuid?.() === 0
    ? [{ title: 'root' }, { title: 'an ordinary user', id: ORDINARY_USER }]
    : [{ title: 'an ordinary user' }];

/** The built command, as it is published. */
async function runCommand(profile: string, { id }: User): Promise<SuiteResult> {
  const scratch = mkdtempSync(path.join(tmpdir(), 'own-conformance-'));
  chmodSync(scratch, 0o755);
  if (id !== undefined) chownSync(scratch, id, id);
  try {
    const program = `"${process.execPath}" "${at('host/bin/tool-runtime.js')}"`;
    const args = ['--profile', profile, '--define', `program=${program}`, '--json', '-', '--scratch', scratch];
    const child = spawn(process.execPath, [at('conformance/bin/conformance.js'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], HOME: scratch, TMPDIR: scratch },
      ...(id === undefined ? {} : { uid: id, gid: id }),
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    await once(child, 'close');
    return JSON.parse(output) as SuiteResult;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

describe('the conformance suite against our own servers', () => {
  ensureBuilt();
  const claims = [
    { profile: 'tool-runtime-mcp', notApplicable: /^idempotency\./ },
    { profile: 'tool-runtime-envelopes', notApplicable: /^none$/ },
  ];
  for (const { profile, notApplicable } of claims) {
    for (const user of USERS) {
      test(`${profile} passes every case that applies, as ${user.title}`, async () => {
        const { results } = await runCommand(profile, user);
        assert.ok(results.length > 50);
        assert.deepEqual(
          results.filter(({ id, outcome }) => outcome !== 'passed' && !notApplicable.test(id)),
          [],
        );
      });
    }
  }
});
