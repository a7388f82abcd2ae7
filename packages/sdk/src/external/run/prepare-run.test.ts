/** Everything that keeps an external tool from running: each attempt has a result with its own exit code. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { JsonObject, JsonValue, ToolResponse } from '@tool-runtime/protocol';
import { openExternalScene, SCRIPT, type Scene, type SceneOptions } from '../../../test/external-scene.ts';
import { startWeb } from '../../../test/loopback-server.ts';
import { FULL_RESULT } from '../../../test/sample-result.ts';
import type { LockFile, RunHistory, RunStatus } from '../../contracts/external.ts';
import { lockExternalTools } from '../../lock-external-tools.ts';
import { canonicalJson, digest, sha256Hex } from '../../platform/digest.ts';
import { createRuntime } from '../../runtime.ts';
import type { Session } from '../../session/session.ts';
import { trustWorkspaceFiles } from '../../trust-registry.ts';
import { checkDependencies, formatDependencyErrors } from './prepare-run.ts';

delete process.env['CI'];

async function openScene(t: TestContext, options: SceneOptions): Promise<Scene> {
  const scene = await openExternalScene(options);
  t.after(() => scene.dispose());
  return scene;
}

interface Refused {
  readonly code: string;
  readonly run: string;
  readonly exit: number;
}

/** The refusal as the caller sees it is also the result on disk. */
function assertRefused(scene: Scene, response: ToolResponse, { code, run, exit }: Refused): JsonObject {
  assert.equal(response.ok, false, JSON.stringify(response.data));
  const [error] = response.errors;
  assert.equal(error?.code, code, JSON.stringify(error));
  const details = error?.details as JsonObject;
  assert.deepEqual([details['run_code'], details['exit_code'], typeof details['next']], [run, exit, 'string']);
  const result = scene.results().find(({ run_id }) => run_id === details['run_id']);
  assert.ok(result !== undefined, 'no result on disk');
  assert.deepEqual(
    [result.status, result.exit_code, result.tool_exit_code, result.errors.map((entry) => entry.code)],
    ['failure', exit, null, [run]],
  );
  assert.deepEqual(readdirSync(join(scene.state, 'external')).includes('exec') ? copies(scene) : [], []);
  return details;
}

function copies(scene: Scene): readonly string[] {
  return readdirSync(join(scene.state, 'external', 'exec'));
}

function editLock(scene: Scene, edit: (lock: { tools: Record<string, JsonObject> }) => void): void {
  const lock = JSON.parse(readFileSync(scene.lockPath, 'utf8'));
  edit(lock);
  writeFileSync(scene.lockPath, JSON.stringify(lock));
}

const RUN = { args: ['echo ran > /dev/null; result'] };

describe('an external tool does not run', () => {
  test('10 when its program is not there [S4-43 S4-39]', async (t) => {
    const scene = await openScene(t, { tools: ['name: a'] });
    renameSync(join(scene.operator, 'tool.sh'), join(scene.operator, 'moved.sh'));
    assertRefused(scene, await scene.session.call('a', RUN), { code: 'E_SHELL', run: 'COMPONENT_NOT_FOUND', exit: 10 });
    renameSync(join(scene.operator, 'moved.sh'), join(scene.operator, 'tool.sh'));
    assert.equal((await scene.session.call('a', RUN)).ok, true);
  });

  test('11 when its digest is another, and only the expected one is told [S4-43 S4-46 S4-39]', async (t) => {
    const scene = await openScene(t, { tools: ['name: a'] });
    const lock: LockFile = JSON.parse(readFileSync(scene.lockPath, 'utf8'));
    const expected = Object.values(lock.tools['a']?.platforms ?? {})[0]?.digest ?? '';
    appendFileSync(join(scene.operator, 'tool.sh'), '\n# changed\n');
    const response = await scene.session.call('a', RUN);
    const details = assertRefused(scene, response, { code: 'E_POLICY', run: 'VERIFICATION_FAILED', exit: 11 });
    assert.equal(details['expected'], expected);
    assert.deepEqual(
      JSON.stringify(response)
        .match(/sha256:[0-9a-f]{64}/g)
        ?.every((found) => found === expected),
      true,
    );
    assert.ok(response.warnings?.some(({ details }) => details?.['reason'] === 'verification_failure'));
    assert.deepEqual(scene.results()[0]?.['audit'], ['verification_failure']);
  });

  test('11 when it is locked and answers under another name or in another protocol [S4-35]', async (t) => {
    const answers = { b: `{"name":"other","requires_pack":false}`, c: `{"name":"c","protocol_version":2}` };
    const script = (answer: string): string =>
      `#!/bin/sh\n[ "$1" = --capabilities ] && echo '${answer}' && exit 0\nexit 0\n`;
    const scene = await openScene(t, {
      tools: ['name: a', 'name: b, command: b.sh', 'name: c, command: c.sh'],
      files: { 'b.sh': script(`{"name":"b"}`), 'c.sh': script(`{"name":"c"}`) },
    });
    for (const name of ['b', 'c'] as const) {
      writeFileSync(join(scene.operator, `${name}.sh`), script(answers[name]));
      editLock(scene, ({ tools }) => {
        const platforms = tools[name]?.['platforms'] as Record<string, { digest: string }>;
        for (const pinned of Object.values(platforms)) pinned.digest = digest(script(answers[name]));
      });
      const response = await scene.session.call(name, {});
      const details = assertRefused(scene, response, { code: 'E_POLICY', run: 'VERIFICATION_FAILED', exit: 11 });
      assert.equal(details['reason'], 'other_tool');
    }
    assert.equal((await scene.session.call('a', RUN)).ok, true);
  });

  test('11 when its program is a link [S4-46] (deep)', async (t) => {
    const scene = await openScene(t, { tools: ['name: a'] });
    renameSync(join(scene.operator, 'tool.sh'), join(scene.operator, 'real.sh'));
    symlinkSync('real.sh', join(scene.operator, 'tool.sh'));
    assertRefused(scene, await scene.session.call('a', RUN), {
      code: 'E_POLICY',
      run: 'VERIFICATION_FAILED',
      exit: 11,
    });
  });

  test('11 when a file it brings is another, is new, or is gone [S4-46] (deep)', async (t) => {
    const scene = await openScene(t, {
      tools: ['name: a, files: [lib]'],
      files: { 'lib/one.txt': 'one', 'lib/deep/two.txt': 'two' },
    });
    const works = { args: ['cat "$(dirname "$0")/lib/one.txt" "$(dirname "$0")/lib/deep/two.txt"; result'] };
    const fine = await scene.session.call('a', works);
    assert.equal((fine.data as JsonObject)['stdout'], 'onetwo');
    const expected = { code: 'E_POLICY', run: 'VERIFICATION_FAILED', exit: 11 };
    const file = join(scene.operator, 'lib', 'one.txt');
    for (const [change, undo] of [
      [() => writeFileSync(file, 'ONE'), () => writeFileSync(file, 'one')],
      [() => writeFileSync(`${file}.more`, ''), () => rmSync(`${file}.more`)],
      [() => rmSync(file), () => writeFileSync(file, 'one')],
    ] as const) {
      change();
      assertRefused(scene, await scene.session.call('a', works), expected);
      undo();
    }
    assert.equal((await scene.session.call('a', works)).ok, true);
  });

  test('13 when the lock is missing, broken, or has nothing about it [S4-43 S4-46] (deep)', async (t) => {
    const scene = await openScene(t, { tools: ['name: a', 'name: b'], lock: ['b'] });
    const lock = readFileSync(scene.lockPath, 'utf8');
    const call = () => scene.session.call('a', RUN);
    assertRefused(scene, await call(), { code: 'E_POLICY', run: 'NOT_IN_LOCKFILE', exit: 13 });
    rmSync(scene.lockPath);
    assertRefused(scene, await call(), { code: 'E_POLICY', run: 'LOCKFILE_ERROR', exit: 13 });
    for (const broken of ['{', '[]', '{"schema_version":1,"tools":{},"tools":{}}', lock.replace('sha256:', 'md5:')]) {
      writeFileSync(scene.lockPath, broken);
      assertRefused(scene, await call(), { code: 'E_POLICY', run: 'LOCKFILE_ERROR', exit: 13 });
    }
    writeFileSync(scene.lockPath, lock.replaceAll(/"linux\/\w+"/g, '"plan9/mips"').replaceAll('"b"', '"a"'));
    assertRefused(scene, await call(), { code: 'E_POLICY', run: 'PLATFORM_NOT_IN_LOCKFILE', exit: 13 });
    writeFileSync(scene.lockPath, lock.replaceAll('"b"', '"a"'));
    assert.equal((await call()).ok, true);
  });

  test('13 when the files it brings are not in the lock [S4-46]', async (t) => {
    const scene = await openScene(t, { tools: ['name: a, files: [more.txt]'], files: { 'more.txt': 'x' } });
    editLock(scene, ({ tools }) => {
      for (const platform of Object.values(
        tools['a']?.['platforms'] as unknown as Record<string, { files?: unknown }>,
      )) {
        delete platform.files;
      }
    });
    assertRefused(scene, await scene.session.call('a', RUN), { code: 'E_POLICY', run: 'DIGEST_MISSING', exit: 13 });
  });

  test('11 when registry, lock and signer do not name one source [S4-46] (deep)', async (t) => {
    const scene = await openScene(t, { tools: ['name: a, source: acme/scan@v1'] });
    const lock = JSON.parse(readFileSync(scene.lockPath, 'utf8'));
    const expected = { code: 'E_POLICY', run: 'VERIFICATION_FAILED', exit: 11 };
    const withTool = (fields: JsonObject) => editLock(scene, ({ tools }) => Object.assign(tools['a'] ?? {}, fields));
    const uri = 'https://github.com/acme/scan';
    withTool({ signer: { source_repository_uri: uri, subject: 's' }, resolved_from: { registry: 'r' } });
    const fine = await scene.session.call('a', RUN);
    assert.equal(fine.ok, true, JSON.stringify(fine.errors));
    const signed = scene.results().at(-1);
    assert.deepEqual(signed?.signing, { source_repository_uri: uri, subject: 's' });
    assert.deepEqual(signed?.resolved_from, { registry: 'r' });
    withTool({ signer: { source_repository_uri: 'https://github.com/mallory/scan' } });
    const details = assertRefused(scene, await scene.session.call('a', RUN), expected);
    assert.equal(details['reason'], 'signer_mismatch');
    writeFileSync(
      scene.lockPath,
      canonicalJson({ ...lock, tools: { a: { ...lock.tools.a, source: 'x/y' } } } as JsonValue),
    );
    assert.equal(assertRefused(scene, await scene.session.call('a', RUN), expected)['reason'], 'source_mismatch');
  });

  test('16 without a pack it needs, 12 when the pack is not what was said, 17 without earlier runs [S4-43] (deep)', async (t) => {
    const scene = await openScene(t, {
      tools: ['name: needs-pack, writable: true', 'name: needs-other', 'name: needs-none, requires_pack: false'],
    });
    writeFileSync(join(scene.workspace, 'a.pack'), 'pack');
    const call = (tool: string, more: JsonObject) => scene.session.call(tool, { args: ['result'], ...more });
    assertRefused(scene, await call('needs-pack', {}), { code: 'E_VALIDATION_FAIL', run: 'PACK_REQUIRED', exit: 16 });
    const failed = { code: 'E_VALIDATION_FAIL', run: 'PACK_VERIFICATION_FAILED', exit: 12 };
    assertRefused(scene, await call('needs-pack', { pack: 'missing.pack' }), failed);
    const other = { pack: 'a.pack', pack_digest: `sha256:${'0'.repeat(64)}` };
    assertRefused(scene, await call('needs-pack', other), failed);
    const early = await call('needs-other', { pack: 'a.pack' });
    assertRefused(scene, early, { code: 'E_VALIDATION_FAIL', run: 'DEPENDENCY_MISSING', exit: 17 });
    const ran = await call('needs-pack', {
      pack: 'a.pack',
      pack_digest: `sha256:${sha256Hex('pack')}`,
      args: ['echo "$first $TOOL_PACK_PATH $TOOL_PACK_DIGEST"; result'],
    });
    const path = join(scene.workspace, 'a.pack');
    assert.equal((ran.data as JsonObject)['stdout'], `${path} ${path} sha256:${sha256Hex('pack')}\n`);
    assert.match(String((ran.data as JsonObject)['run_dir']), /^external\/packs\/[^/]+\/tools\/needs-pack\//);
    assert.equal((await call('needs-other', { pack: 'a.pack' })).ok, true);
    const changing = await call('needs-pack', { pack: 'a.pack', args: ['echo more >> "$first"; result'] });
    assert.deepEqual(
      (changing.data as { warnings: { code: string }[] }).warnings.map(({ code }) => code),
      ['PACK_VERIFICATION_FAILED'],
    );
    assert.equal((await call('needs-none', {})).ok, true);
  });

  test('15 when what it is to be given is too large [S4-43] (deep)', async (t) => {
    const scene = await openScene(t, { tools: ['name: a, args_schema: {type: object}'] });
    const response = await scene.session.call('a', { ...RUN, inputs: { text: 'x'.repeat(1_100_000) } });
    assertRefused(scene, response, { code: 'E_VALIDATION_FAIL', run: 'CONFIG_WRITE_FAILED', exit: 15 });
  });

  test('14 when it cannot be started [S4-43] (deep)', async (t) => {
    const scene = await openScene(t, {
      tools: ['name: a, command: bad.sh, requires_pack: false, allow_unpinned: true'],
      files: { 'bad.sh': '#!/no/such/interpreter\n' },
      lock: 'nothing',
    });
    const response = await scene.session.call('a', RUN);
    assert.equal(response.errors[0]?.code, 'E_SHELL');
    const result = scene.results().at(-1);
    assert.deepEqual(
      [result?.status, result?.exit_code, result?.tool_exit_code, result?.errors[0]?.code],
      ['failure', 14, null, 'COMPONENT_FAILED'],
    );
  });

  test('when it needs a network it was not given, or none is allowed [S4-49] (deep)', async (t) => {
    const scene = await openScene(t, {
      tools: ['name: needs-net', 'name: given-net, network: true, side_effect_level: network'],
    });
    const expected = { code: 'E_POLICY', run: 'COMPONENT_FAILED', exit: 14 };
    const wanting = assertRefused(scene, await scene.session.call('needs-net', RUN), expected);
    assert.equal(wanting['reason'], 'network_not_granted');
    const hostless = assertRefused(scene, await scene.session.call('given-net', RUN), expected);
    assert.equal(hostless['reason'], 'no_allowed_domains');
  });

  test('reaches the allowed hosts, by the list of the session, when it was given the network [S4-49] (deep)', async (t) => {
    const web = await startWeb(t, (_request, response) => response.end('reached'));
    const other = await startWeb(t, (_request, response) => response.end('other'));
    const scene = await openScene(t, {
      tools: ['name: a, network: true, side_effect_level: network'],
      registry: [`network: {allowed_domains: ["localhost:${web.port}", "localhost:${other.port}"]}`],
    });
    const text = `version: 1\nnetwork: {allowed_domains: ["localhost:${web.port}"]}\nexternal_tools: [{name: a}]\n`;
    const narrow = await scene.runtime.openSession({ registry: { file: 's.yaml', text } });
    const fetching = (port: number) => ({ args: [`curl -s -m 10 http://localhost:${port}/; result`] });
    const said = async (session: Session, port: number) =>
      ((await session.call('a', fetching(port))).data as JsonObject)['stdout'];
    assert.equal(await said(scene.session, web.port), 'reached');
    assert.equal(await said(scene.session, other.port), 'other');
    assert.equal(await said(narrow, web.port), 'reached');
    assert.notEqual(await said(narrow, other.port), 'other');
    assert.equal(other.requests.length, 1);
  });

  test('when the ceiling of the session is below its level [S4-49 S4-50] (deep)', async (t) => {
    const scene = await openScene(t, {
      tools: ['name: a, network: true, side_effect_level: network'],
      registry: ['network: {allowed_domains: [example.org]}'],
    });
    const session = await scene.runtime.openSession({ capabilities: { side_effect_level: 'process_exec' } });
    assert.equal((await session.call('a', RUN)).errors[0]?.code, 'E_POLICY');
    assert.equal((await scene.session.call('a', RUN)).ok, true);
  });

  test('when the registry of the session does not name it [S4-50] (deep)', async (t) => {
    const scene = await openScene(t, { tools: ['name: a', 'name: b'] });
    const session = await scene.runtime.openSession({
      registry: { file: 's.yaml', text: 'version: 1\nexternal_tools: [{name: a}]\n' },
    });
    assert.equal((await session.call('b', RUN)).errors[0]?.code, 'E_POLICY');
    assert.equal((await session.call('a', RUN)).ok, true);
  });

  test('when a gate refuses the call: that is a run too [S4-39 S4-50] (deep)', async (t) => {
    const scene = await openScene(t, { tools: ['name: a'], registry: ['approvals: {auto_deny: [a]}'] });
    const denied = await scene.session.call('a', RUN);
    assert.equal(denied.errors[0]?.code, 'E_POLICY');
    const invalid = await scene.session.call('a', { bogus: 1 });
    assert.equal(invalid.errors[0]?.code, 'E_VALIDATION_FAIL');
    const results = scene.results();
    assert.deepEqual(
      results.map(({ status, tool_exit_code, exit_code, errors }) => [
        status,
        tool_exit_code,
        exit_code,
        errors[0]?.code,
      ]),
      [
        ['failure', null, 14, 'E_POLICY'],
        ['failure', null, 14, 'E_VALIDATION_FAIL'],
      ],
    );
    assert.match(JSON.stringify(results[0]?.['call']), /"actor":"local"/);
  });
});

describe('a tool without an entry in the lock', () => {
  test('runs where the operator allows it, which is on record, and never in CI [S4-46]', async (t) => {
    const scene = await openScene(t, { tools: ['name: a, allow_unpinned: true'], lock: 'nothing' });
    const response = await scene.session.call('a', RUN);
    assert.equal(response.ok, true, JSON.stringify(response.errors));
    assert.ok(response.warnings?.some(({ details }) => details?.['reason'] === 'unpinned_execution'));
    assert.deepEqual(scene.results()[0]?.['audit'], ['unpinned_execution']);
    process.env['CI'] = 'true';
    try {
      const refused = await scene.session.call('a', RUN);
      const details = assertRefused(scene, refused, { code: 'E_POLICY', run: 'LOCKFILE_ERROR', exit: 13 });
      assert.equal(details['reason'], 'unpinned_in_ci');
    } finally {
      delete process.env['CI'];
    }
  });
});

describe('a lock that lies in the workspace', () => {
  test('counts only while its content is trusted [S4-46] (deep)', async (t) => {
    const scene = await openScene(t, { tools: ['name: a'], lock: 'nothing' });
    const state = `${scene.state}-inner`;
    const text = `version: 1\nexternal_tools: [{name: a, command: tool.sh, requires_pack: false}]\n`;
    writeFileSync(join(scene.workspace, 'tool.sh'), SCRIPT, { mode: 0o755 });
    const runtime = await createRuntime({ workspace: scene.workspace, state, registry: { text, file: 'ops.yaml' } });
    t.after(() => runtime.close());
    const session = await runtime.openSession();
    const { path } = await lockExternalTools({ workspace: scene.workspace, state, registry: runtime.registry });
    assert.equal(path, join(scene.workspace, 'tool-runtime.lock'));
    assert.equal((await session.call('a', RUN)).ok, true, 'what lock wrote is trusted');
    appendFileSync(path, '\n');
    const refused = await session.call('a', RUN);
    assert.equal(refused.errors[0]?.details?.['reason'], 'lock_not_trusted');
    const trusted = await trustWorkspaceFiles({ workspace: scene.workspace, state });
    assert.deepEqual(
      trusted.map(({ file }) => file),
      ['tool-runtime.lock'],
    );
    assert.equal((await session.call('a', RUN)).ok, true);
  });

  test('cannot be changed by file tools or by the tools it pins [S4-46]', async (t) => {
    const scene = await openScene(t, { tools: ['name: a'] });
    writeFileSync(join(scene.workspace, 'tool-runtime.lock'), 'mine');
    chmodSync(join(scene.workspace, 'tool-runtime.lock'), 0o666);
    const written = await scene.session.call('file_write', { path: 'tool-runtime.lock', content: 'theirs' });
    assert.equal(written.errors[0]?.code, 'E_POLICY');
    await scene.session.call('a', { args: ['echo theirs > $TOOL_PROJECT_ROOT/tool-runtime.lock; result'] });
    assert.equal(readFileSync(join(scene.workspace, 'tool-runtime.lock'), 'utf8'), 'mine');
    const twin = await scene.session.call('file_write', { path: 'other.lock', content: 'theirs' });
    assert.equal(twin.ok, true);
  });
});

describe('what a tool says of itself (deep)', () => {
  const probe = (answer: string) => `#!/bin/sh\nif [ "$1" = --capabilities ]; then ${answer}; fi\nexit 0\n`;
  const rows: readonly [string, string, string][] = [
    ['with an exit code [S4-34]', 'echo "{}"; exit 3', 'unknown'],
    ['in no JSON [S4-34]', 'echo hello', 'unknown'],
    [
      'with a doubled key [S4-34]',
      `echo '{"name":"a","version":"1","requires_pack":false,"n\\u0061me":"a"}'`,
      'unknown',
    ],
    [
      'at too great length [S4-34]',
      `echo '{"name":"a","requires_pack":false}'; head -c 70000 /dev/zero | tr '\\0' ' '`,
      'unknown',
    ],
    ['under another name [S4-35]', `echo '{"name":"b","version":"1","requires_pack":false}'`, 'unknown'],
    [
      'in another protocol [S4-35]',
      `echo '{"name":"a","version":"1","protocol_version":2,"requires_pack":false}'`,
      'unknown',
    ],
    ['never [S4-34]', 'sleep 60', 'unknown'],
    ['without a word about packs [S4-33]', `echo '{"name":"a","version":"7"}'`, '7'],
  ];
  for (const [name, answer] of rows) {
    test(`${name}: it is taken to need a pack (deep)`, async (t) => {
      const scene = await openScene(t, {
        tools: ['name: a, command: p.sh, allow_unpinned: true'],
        files: { 'p.sh': probe(`${answer}; exit 0`) },
        lock: 'nothing',
      });
      const response = await scene.session.call('a', {});
      assertRefused(scene, response, { code: 'E_VALIDATION_FAIL', run: 'PACK_REQUIRED', exit: 16 });
    });
  }

  test('counts, and is asked without secrets, run folder or network, under a mark [S4-34 S4-33]', async (t) => {
    process.env['PROBED_TOKEN'] = 'probed-secret';
    const answer = `printf '{"name":"a","version":"%s","requires_pack":false}' "$TOOL_MODE/$PROBED_TOKEN/$TOOL_RUN_DIR/$(grep -vc 'lo:\\|face\\|Inter' /proc/net/dev)"`;
    const scene = await openScene(t, {
      tools: ['name: a, command: p.sh, allow_unpinned: true, secrets: [PROBED_TOKEN]'],
      files: { 'p.sh': probe(`${answer}; exit 0`) },
      lock: 'nothing',
    });
    const response = await scene.session.call('a', {});
    assert.equal(response.ok, true, JSON.stringify(response.errors));
    assert.equal(scene.results()[0]?.tool.version, 'capabilities///0');
  });

  test('is asked once for each program [S4-34]', async (t) => {
    const clock = `read up rest < /proc/uptime; printf '{"name":"a","version":"%s","requires_pack":false}' $up`;
    const scene = await openScene(t, {
      tools: ['name: a, command: p.sh, allow_unpinned: true'],
      files: { 'p.sh': probe(`${clock}; exit 0`) },
      lock: 'nothing',
    });
    const versions = () => scene.results().map(({ tool }) => tool.version);
    for (const _ of [1, 2, 3]) assert.equal((await scene.session.call('a', {})).ok, true);
    assert.equal(new Set(versions()).size, 1);
    appendFileSync(join(scene.operator, 'p.sh'), '\n');
    assert.equal((await scene.session.call('a', {})).ok, true);
    assert.equal(new Set(versions()).size, 2);
  });

  test('what the registry says about packs counts before it [S4-34]', async (t) => {
    const scene = await openScene(t, {
      tools: ['name: a, command: p.sh, allow_unpinned: true, requires_pack: false'],
      files: { 'p.sh': probe('exit 3') },
      lock: 'nothing',
    });
    assert.equal((await scene.session.call('a', {})).ok, true);
    assert.equal(scene.results()[0]?.tool.version, 'unknown');
  });
});

const runId = (day: number) => `2026-01-0${day}T00-00-00-000000Z-000000`;

/** Runs of one tool, newest last, and the files that are there; every tool and path asked for is noted. */
function history(runs: readonly (RunStatus | 'broken')[], files: readonly string[] = []) {
  const asked: string[] = [];
  const tools: string[] = [];
  const port: RunHistory = {
    runsOf(tool) {
      tools.push(tool);
      return tool === 'index' ? runs.map((_, at) => runId(at + 1)).reverse() : [];
    },
    readResult(_tool, id) {
      const status = runs[Number(id.slice(8, 10)) - 1];
      return status === 'broken' ? Buffer.from('{') : Buffer.from(JSON.stringify({ ...FULL_RESULT, status }));
    },
    hasOutput(parts) {
      asked.push(parts.join('/'));
      return files.includes(parts.join('/'));
    },
  };
  return { port, asked, tools };
}

const needs = (tools: string[], outputs: string[] = []) => ({ requires_tools: tools, requires_outputs: outputs });

test('nothing is missing when nothing is known, nothing is needed, or there is no pack [S4-36]', () => {
  assert.deepEqual(checkDependencies(undefined, history([]).port), []);
  assert.deepEqual(checkDependencies(needs([]), history([]).port), []);
  assert.deepEqual(checkDependencies(needs(['index'], ['index/outputs/a']), undefined), []);
});

test('a needed tool needs one run that ended in success [S4-36]', () => {
  const missing = [{ tool: 'index' }];
  const cases: readonly (readonly [readonly (RunStatus | 'broken')[], unknown])[] = [
    [[], missing],
    [['failure'], missing],
    [['partial'], missing],
    [['broken'], missing],
    [['success'], []],
    [['success', 'failure'], []],
    [['broken', 'success', 'partial'], []],
  ];
  for (const [runs, expected] of cases) {
    assert.deepEqual(checkDependencies(needs(['index']), history(runs).port), expected, runs.join());
  }
});

test('an output is looked for in the newest successful run of its tool [S4-36]', () => {
  const output = 'index/outputs/vectors.json';
  const inside = (day: number) => `index/${runId(day)}/outputs/vectors.json`;
  const missing = [{ tool: 'index', output }];
  assert.deepEqual(checkDependencies(needs([], [output]), history(['success', 'failure'], [inside(1)]).port), []);
  assert.deepEqual(checkDependencies(needs([], [output]), history(['success', 'failure'], [inside(2)]).port), missing);
  assert.deepEqual(checkDependencies(needs([], [output]), history(['success', 'success'], [inside(1)]).port), missing);
  assert.deepEqual(checkDependencies(needs([], [output]), history([], [inside(1)]).port), missing);
});

test('the path as it is written counts too [S4-36]', () => {
  const output = 'index/outputs/vectors.json';
  assert.deepEqual(checkDependencies(needs([], [output]), history([], [output]).port), []);
});

test('a path that could lead elsewhere is missing and never asked for [S4-37]', () => {
  const outputs = [
    '../secret',
    'index/../../secret',
    'index/./a',
    '/etc/passwd',
    'index//a',
    'index/outputs/',
    'index\\..\\a',
    'C:/a',
    'index/a\0b',
    'Index/a',
    'index',
    '',
  ];
  const { port, asked, tools } = history(['success'], outputs);
  assert.deepEqual(
    checkDependencies(needs(['../index', ''], outputs), port).map(({ output, tool }) => output ?? tool),
    ['../index', '', ...outputs],
  );
  assert.deepEqual([asked, tools], [[], []]);
});

test('a missing output names the tool in its first part, when that is one [S4-36]', () => {
  const missing = checkDependencies(needs([], ['other/outputs/a', '../x/y']), history([]).port);
  assert.deepEqual(missing, [
    { tool: 'other', output: 'other/outputs/a' },
    { tool: '', output: '../x/y' },
  ]);
});

test('what is missing reads as one line [S4-38]', () => {
  const lines: readonly (readonly [Parameters<typeof formatDependencyErrors>[0], string])[] = [
    [[], ''],
    [[{ tool: 'index' }], 'Required tool has not run successfully: index'],
    [
      [
        { tool: 'index', output: 'index/a' },
        { tool: 'index', output: 'index/b' },
      ],
      'Required output of index not found: index/a, index/b',
    ],
    [[{ tool: 'b' }, { tool: 'a' }, { tool: 'b' }], 'Required tools have not run successfully: a, b'],
    [
      [{ tool: 'b' }, { tool: 'a', output: 'a/x' }],
      'Required tools have not run successfully: a, b; outputs not found: a/x',
    ],
    [[{ tool: '', output: '../x' }], 'Required outputs not found: ../x'],
  ];
  for (const [missing, line] of lines) assert.equal(formatDependencyErrors(missing), line);
});

test('a name cannot forge a second line [S4-38]', () => {
  assert.doesNotMatch(formatDependencyErrors([{ tool: 'a\nall is well' }, { tool: 'b', output: 'x\ny' }]), /\n/);
});
