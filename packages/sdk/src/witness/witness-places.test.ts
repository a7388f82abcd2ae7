/** Every kind of witness notices a journal that was cut, put back, forked or given another key. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { ToolError } from '@tool-runtime/protocol';
import { openJournalReader } from '../journal/store/journal-reader.ts';
import { createRuntime, type RuntimeOptions } from '../runtime.ts';
import { witnessedHeads } from '../witnessed-heads.ts';

const root = mkdtempSync(join(tmpdir(), 'tool-runtime-witness-places-'));
const lines: string[] = [];
let isDown = false;
const server = createServer(async (request, response) => {
  if (isDown) return void response.writeHead(503).end();
  if (request.method === 'POST') lines.push(await text(request));
  response.end(request.method === 'POST' ? '' : lines.join(''));
});
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => {
  server.close();
  rmSync(root, { recursive: true, force: true });
});

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/heads`;
const KINDS = {
  file: (folder: string) => ({ file: join(folder, 'witness.log') }),
  git_ref: () => ({ git_ref: 'refs/heads/witness' }),
  url: () => ({ url: url() }),
} as const;

interface Scene {
  readonly workspace: string;
  readonly state: string;
  readonly registry: string;
}

function setUp(name: string, witness: object): Scene {
  const folder = join(root, name);
  const scene = { workspace: join(folder, 'work'), state: join(folder, 'state'), registry: join(folder, 'r.yaml') };
  mkdirSync(scene.workspace, { recursive: true });
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: scene.workspace });
  writeFileSync(scene.registry, `version: 1\nwitness: [${JSON.stringify(witness)}]\n`);
  return scene;
}

async function write(scene: Scene, content: string, options: Partial<RuntimeOptions> = {}): Promise<readonly string[]> {
  const faults: string[] = [];
  const onUnexpected = (error: ToolError): void => void faults.push(error.message);
  const runtime = await createRuntime({ ...scene, onUnexpected, ...options });
  const session = await runtime.openSession({});
  assert.ok((await session.call('file_write', { path: 'a.txt', content })).ok);
  await runtime.close();
  return faults;
}

async function verify(scene: Scene) {
  const { heads, places } = await witnessedHeads(scene);
  const reader = openJournalReader(scene.state);
  try {
    const { ok, broken } = reader.verify(undefined, { witnessed: heads });
    return { ok, reason: broken?.reason, alone: reader.verify().ok, places };
  } finally {
    reader.close();
  }
}

function putBack(scene: Scene): void {
  rmSync(scene.state, { recursive: true });
  mkdirSync(scene.state, { mode: 0o700 });
  cpSync(`${scene.state}-old`, scene.state, { recursive: true, preserveTimestamps: true });
}

for (const [kind, settings] of Object.entries(KINDS)) {
  // Git runs in a sandbox of its own each time.
  describe(`a witness named by ${kind}${kind === 'git_ref' ? ' (deep)' : ''}`, () => {
    let scene: Scene;
    before(async () => {
      mkdirSync(join(root, kind));
      scene = setUp(kind, settings(join(root, kind)));
      assert.deepEqual(await write(scene, 'one'), []);
      cpSync(scene.state, `${scene.state}-old`, { recursive: true, preserveTimestamps: true });
      assert.deepEqual(await write(scene, 'two'), []);
    });

    test('has a head of each run, and the chain contains them', async () => {
      const { ok, places } = await verify(scene);
      assert.deepEqual([ok, places.map(({ heads }) => heads)], [true, [2]]);
    });

    test('notices that the whole folder was put back, and that it went on from there', async () => {
      putBack(scene);
      const cut = await verify(scene);
      assert.deepEqual([cut.ok, cut.alone], [false, true]);
      assert.match(cut.reason ?? '', /^witnessed head not contained/);
      await write(scene, 'another two', { registry: { text: 'version: 1', file: 'none' } });
      const forked = await verify(scene);
      assert.deepEqual([forked.ok, forked.alone], [false, true]);
    });

    test('notices a journal with another key in its place', async () => {
      rmSync(scene.state, { recursive: true });
      await write(scene, 'new', { registry: { text: 'version: 1', file: 'none' } });
      assert.deepEqual(((found) => [found.ok, found.alone])(await verify(scene)), [false, true]);
    });
  });
}

test('a witness that does not answer is reported and does not stop calls; verify then fails', async () => {
  const scene = setUp('down', KINDS.url());
  isDown = true;
  try {
    assert.match((await write(scene, 'one')).join(), /Witness answered with status 503/);
    await assert.rejects(witnessedHeads(scene), { code: 'E_HTTP' });
  } finally {
    isDown = false;
  }
  assert.deepEqual(await write(scene, 'two'), []);
  assert.equal((await verify(scene)).ok, true);
});

test('verify creates nothing in the state folder (deep)', async () => {
  const scene = setUp('nothing', KINDS.git_ref());
  await write(scene, 'one');
  const found = readdirSync(scene.state, { recursive: true }).length;
  await verify(scene);
  assert.equal(readdirSync(scene.state, { recursive: true }).length, found);
});

test('a registry that came with the repository names no witness until it is trusted', async () => {
  const scene = setUp('untrusted', KINDS.url());
  const text = `version: 1\nwitness: [${JSON.stringify(KINDS.url())}]\n`;
  writeFileSync(join(scene.workspace, 'tool-runtime.yaml'), text);
  const told = lines.length;
  const runtime = await createRuntime({ workspace: scene.workspace, state: scene.state });
  assert.match(JSON.stringify(runtime.registry.warnings), /Witnesses are named by the host/);
  await runtime.close();
  assert.equal(lines.length, told);
  const { workspace, state } = scene;
  assert.deepEqual((await witnessedHeads({ workspace, state })).places, []);
});
