import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { checkFleet, readFleetFile } from './fleet-file.ts';

const LEAST = { servers: ['nats://127.0.0.1:4222'], credentials: { user: 'a', password: 'b' } };

test('three replicas and a lease that outlasts an election by default', () => {
  const { replicas, lease_ms, tenant } = checkFleet(LEAST);
  assert.deepEqual([replicas, lease_ms, tenant], [3, 15_000, 'main']);
});

test('what is unknown or wrong is refused with its place', () => {
  const wrong = [
    [{ ...LEAST, server: [] }, /server/],
    [{ ...LEAST, servers: [] }, /servers/],
    [{ ...LEAST, host: 'a b' }, /host/],
    [{ ...LEAST, lease_ms: 10 }, /lease_ms/],
    [{ ...LEAST, replicas: 2 }, /replicas/],
  ] as const;
  for (const [value, place] of wrong) {
    assert.throws(
      () => checkFleet(value),
      (error) => isToolError(error) && place.test(error.message),
    );
  }
});

test('files of credentials and certificates are beside the fleet file', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fleet-file-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'fleet.yaml');
  writeFileSync(
    file,
    'servers: [tls://nats.example:4222]\ncredentials: { user: a, creds_file: a.creds }\ntls: { ca_file: ca.pem }\n',
  );
  const read = readFleetFile(file);
  assert.deepEqual(read.credentials, { user: 'a', creds_file: path.join(folder, 'a.creds') });
  assert.equal(read.tls?.ca_file, path.join(folder, 'ca.pem'));
});
