/** A host alone loads nothing of the fleet; the fleet file is what brings it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

const HOST = path.join(import.meta.dirname, '../../host/src');
const FLEET = /packages\/fleet\/|@nats-io|node_modules\/pg\//;

/** Addresses of all modules that a process loads while it runs `work`. */
function loadedBy(work: string): readonly string[] {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    ${work}
    process.stdout.write(JSON.stringify(loaded), () => process.exit(0));`;
  const node = ['-C', 'tool-runtime-source', '--input-type=module', '-e', script];
  return JSON.parse(
    execFileSync(process.execPath, node, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } }),
  );
}

test('a host that starts, serves a call and stops loads nothing of the fleet', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'not-loaded-'));
  t.after(() => rmSync(root, { recursive: true }));
  const workspace = path.join(root, 'shop');
  mkdirSync(workspace);
  writeFileSync(path.join(workspace, 'a.txt'), 'hello');
  const loaded = loadedBy(`
    const { startHost } = await import(${JSON.stringify(path.join(HOST, 'start-host.ts'))});
    const { connectToHost } = await import('@tool-runtime/protocol/client');
    const running = await startHost({
      workspaces: [${JSON.stringify(workspace)}],
      state: ${JSON.stringify(path.join(root, 'state'))},
      http: { hostname: '127.0.0.1', port: 0 },
    });
    const client = await connectToHost({ url: running.url, token: running.token });
    const answer = await client.call('file_read', { path: 'a.txt' });
    if (!answer.ok) throw new Error(JSON.stringify(answer));
    await client.close();
    await running.stop();`);
  assert.ok(
    loaded.some((url) => url.endsWith('start-host.ts')),
    'the hook saw nothing',
  );
  assert.deepEqual(
    loaded.filter((url) => FLEET.test(url)),
    [],
  );
});

test('joining a fleet is what loads it', () => {
  const loaded = loadedBy(`
    const { joinFleetOf } = await import(${JSON.stringify(path.join(HOST, 'fleet/join.ts'))});
    await joinFleetOf({ file: 'missing.yaml', folders: [], version: '0', log: {} }).catch(() => {});`);
  assert.ok(loaded.some((url) => FLEET.test(url)));
});
