import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { ExternalToolSettings, LockFile } from '../../contracts/external.ts';
import { findPin } from './find-pin.ts';

const PLATFORM = 'linux/amd64';
const TOOL = {
  version: '1',
  locked_at: '2026-01-02T03:04:05Z',
  platforms: { [PLATFORM]: { digest: `sha256:${'a'.repeat(64)}` } },
};

function lockWith(context: TestContext, names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'find-pin-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const lock: LockFile = { schema_version: 1, tools: Object.fromEntries(names.map((name) => [name, TOOL])) };
  writeFileSync(join(folder, 'tool-runtime.lock'), JSON.stringify(lock));
  return join(folder, 'tool-runtime.lock');
}

/** The digest a tool is pinned to, or the code of the refusal. */
function pinOf(name: string, path: string, platform = PLATFORM): unknown {
  const settings = { name, allow_unpinned: false } as ExternalToolSettings;
  try {
    return findPin(settings, { lock: { path, isTrusted: () => true }, environment: {}, platform })?.platform.digest;
  } catch (thrown) {
    return isToolError(thrown) ? thrown.details['run_code'] : thrown;
  }
}

test('a tool that is called like something every object has is pinned by its own entry only [S4-46]', (context) => {
  const { digest } = TOOL.platforms[PLATFORM] ?? assert.fail();
  const without = lockWith(context, ['scan']);
  assert.equal(pinOf('scan', without), digest);
  assert.equal(pinOf('constructor', without), 'NOT_IN_LOCKFILE');
  assert.equal(pinOf('scan', without, 'constructor'), 'PLATFORM_NOT_IN_LOCKFILE');
  assert.equal(pinOf('constructor', lockWith(context, ['constructor'])), digest);
});
