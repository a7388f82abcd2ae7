import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createLog } from '../ops/log.ts';
import { joinFleetOf } from './join.ts';

test('two folders of one name are refused before a server is asked, with what to write', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'fleet-join-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folders = ['a/shop', 'b/shop'].map((name) => join(root, name));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const file = join(root, 'fleet.yaml');
  // Nothing listens there: a connection would fail with another reason.
  writeFileSync(file, 'servers: ["nats://127.0.0.1:1"]\ncredentials: { user: a, password: x }\nhost: a\n');
  await assert.rejects(
    joinFleetOf({
      file,
      folders,
      version: '0',
      log: createLog({ stream: process.stderr, level: 'silent', format: 'json' }),
    }),
    (error) => isToolError(error) && error.details['reason'] === 'invalid_fleet_file' && /shop/.test(error.message),
  );
});
