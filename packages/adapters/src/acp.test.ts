import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import type {
  ToolKind as AcpKind,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  ToolCall,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openGovernedSession } from '../test/governed-session.ts';
import {
  ACP_SWITCH_MODE,
  type AcpCall,
  acpApprovals,
  acpPermissionOptions,
  fromAcpKind,
  fromAcpLocations,
  fromAcpPermission,
  fromAcpStatus,
  toAcpProgress,
  toAcpResult,
  toAcpStatus,
  toAcpToolCall,
} from './acp.ts';

const schemaFile = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v1/schema.json');
const definitions = (JSON.parse(readFileSync(schemaFile, 'utf8')) as { $defs: Record<string, unknown> }).$defs;
const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Checks against the protocol's published schema. */
function assertProtocol(name: string, value: unknown): void {
  const isValid = ajv.compile({ $ref: `#/$defs/${name}`, $defs: definitions });
  assert.ok(isValid(value), JSON.stringify(isValid.errors));
}

const TOOL_KINDS = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'other'] as const;
const workspace = '/srv/project';
const call = (changed: Partial<AcpCall> = {}): AcpCall => ({
  callId: 'call_1',
  title: 'Write file',
  kind: 'edit',
  args: { path: 'src/a.txt', content: 'new\n' },
  ...changed,
});

test('every kind is forwarded unchanged and read back; switch_mode is known and never sent [S2-30]', () => {
  for (const kind of TOOL_KINDS) {
    const sent: AcpKind = toAcpToolCall(call({ kind }), { workspace }).kind;
    assert.equal(sent, kind);
    assert.equal(fromAcpKind(sent), kind);
    assert.notEqual(sent, ACP_SWITCH_MODE);
  }
  const foreign: AcpKind = ACP_SWITCH_MODE;
  assert.deepEqual([fromAcpKind(foreign), fromAcpKind('brand_new'), fromAcpKind(null)], ['other', 'other', 'other']);
});

test('every status of the protocol is read and sent back as it was [S2-31]', () => {
  for (const status of ['pending', 'in_progress', 'completed', 'failed'] as const) {
    assert.equal(toAcpStatus(fromAcpStatus(status)), status);
  }
  assert.equal(fromAcpStatus(undefined), 'requested');
});

test('a call is reported with absolute places, redacted input, and a diff where the old text is known', () => {
  const token = `ghp_${'a'.repeat(36)}`;
  const before = new Map([['src/a.txt', 'old\n']]);
  const report: ToolCall = toAcpToolCall(call({ args: { path: 'src/a.txt', content: 'new\n', token }, before }), {
    workspace,
  });
  assert.deepEqual(report, {
    toolCallId: 'call_1',
    title: 'Write file',
    kind: 'edit',
    status: 'pending',
    locations: [{ path: '/srv/project/src/a.txt' }],
    content: [{ type: 'diff', path: '/srv/project/src/a.txt', oldText: 'old\n', newText: 'new\n' }],
    rawInput: { path: 'src/a.txt', content: 'new\n', token: '[redacted]' },
  });
  assertProtocol('ToolCall', report);
  assert.deepEqual(
    toAcpToolCall(call(), { workspace }).content,
    [],
    'an unknown old text must not look like a new file',
  );
  const created = toAcpToolCall(call({ before: new Map([['src/a.txt', null]]) }), { workspace }).content;
  assert.partialDeepStrictEqual(created, [{ oldText: null, newText: 'new\n' }]);
  const update: ToolCallUpdate = toAcpProgress(call());
  assert.deepEqual(update, { toolCallId: 'call_1', kind: 'edit', status: 'in_progress' });
});

test('bytes are no diff, and appended text is shown behind the old', () => {
  const before = new Map([['src/a.txt', 'old\n']]);
  const content = (args: object) => toAcpToolCall(call({ args, before }), { workspace }).content;
  assert.deepEqual(content({ path: 'src/a.txt', content: 'AAAA', encoding: 'base64' }), []);
  assert.partialDeepStrictEqual(content({ path: 'src/a.txt', content: 'more', append: true }), [
    { newText: 'old\nmore' },
  ]);
});

test('results of real calls are completed with diffs and lines, or failed with words', async () => {
  const { session, workspace: root, dispose } = await openGovernedSession();
  const options = { workspace: root };
  const patch = {
    path: 'src/hello.txt',
    unified_diff: '--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1 +1 @@\n-hello\n+bye\n',
  };
  const patched: ToolCallUpdate = toAcpResult(call({ args: patch }), await session.call('file_patch', patch), options);
  assert.deepEqual(patched.locations, [{ path: join(root, 'src/hello.txt'), line: 1 }]);
  assert.deepEqual(patched.content, [
    { type: 'diff', path: join(root, 'src/hello.txt'), oldText: 'hello', newText: 'bye' },
  ]);
  assert.equal(patched.status, 'completed');
  const denied = { path: 'elsewhere.txt', content: 'x' };
  const failed = toAcpResult(call({ args: denied }), await session.call('file_write', denied), options);
  assert.equal(failed.status, 'failed');
  assert.match(JSON.stringify(failed.content), /Refused \(E_POLICY\)/);
  const read = { path: 'src/hello.txt', offset: 1 };
  const done = toAcpResult(call({ kind: 'read', args: read }), await session.call('file_read', read), options);
  assert.deepEqual(done.locations, [{ path: join(root, 'src/hello.txt'), line: 1 }]);
  for (const update of [patched, failed, done]) assertProtocol('ToolCallUpdate', update);
  await dispose();
});

test('the answer of a structural edit gives the files it touched and the diff of a dry run', () => {
  const data = { files_touched: ['a.ts', 'b.ts'], diff: '--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-x\n+y\n' };
  const response = {
    type: 'ToolResponse',
    ok: true,
    tool: 't',
    request_id: 'r',
    duration_ms: 1,
    data,
    errors: [],
    warnings: [],
  } as const;
  const update = toAcpResult(call({ args: { operation: 'rename_symbol' } }), response, { workspace });
  assert.deepEqual(
    update.locations?.map((place) => place.path),
    ['/srv/project/a.ts', '/srv/project/b.ts'],
  );
  assert.deepEqual(update.content, [{ type: 'diff', path: '/srv/project/a.ts', oldText: 'x', newText: 'y' }]);
});

test('places of other agents are read back, those outside of the workspace left out', () => {
  const places = [
    { path: '/srv/project/src/a.txt', line: 3 },
    { path: '/srv/project', line: 0 },
    { path: '/srv/project/..x' },
    { path: '/srv/projectcraft/a' },
    { path: '/etc/passwd' },
    { path: 'relative' },
  ];
  assert.deepEqual(fromAcpLocations(places, { workspace }), [
    { path: 'src/a.txt', line: 3 },
    { path: '.' },
    { path: '..x' },
  ]);
});

test('a permission counts by the kind of the option, and cancelling is a no [S2-30]', () => {
  const options = acpPermissionOptions(['approved', 'approved_for_session', 'denied']);
  assert.deepEqual(
    options.map((option) => option.kind),
    ['allow_once', 'allow_always', 'reject_once'],
  );
  const answer = (outcome: RequestPermissionOutcome) => fromAcpPermission(options, outcome, 'ann');
  for (const { optionId } of options) {
    assert.deepEqual(answer({ outcome: 'selected', optionId }), { answer: optionId, by: 'ann' });
  }
  assert.deepEqual(answer({ outcome: 'cancelled' }), { answer: 'denied', by: 'ann', reason: 'cancelled' });
  assert.equal(answer({ outcome: 'selected', optionId: 'made up' }).answer, 'denied');
  const swapped = [{ optionId: 'approved', name: 'No', kind: 'reject_always' }] as const;
  assert.equal(fromAcpPermission(swapped, { outcome: 'selected', optionId: 'approved' }, 'ann').answer, 'denied');
});

test("the runtime asks the person at the editor in the protocol's words, and acts on the answer", async () => {
  const asked: RequestPermissionRequest[] = [];
  const answers: RequestPermissionOutcome[] = [{ outcome: 'cancelled' }, { outcome: 'selected', optionId: 'approved' }];
  const approvals = acpApprovals({
    sessionId: 'acp-session',
    workspace,
    by: 'editor',
    async requestPermission(request) {
      asked.push(request);
      return { outcome: answers.shift() ?? { outcome: 'cancelled' } };
    },
  });
  const { session, workspace: root, deeds, dispose } = await openGovernedSession({ approvals });
  const args = { path: 'src/hello.txt' };
  const no = await session.call('fs_delete', args);
  assert.deepEqual([no.ok, deeds().length], [false, 0]);
  assert.equal((await session.call('fs_delete', args)).ok, true);
  assert.equal(existsSync(join(root, args.path)), false);
  for (const request of asked) assertProtocol('RequestPermissionRequest', request);
  assert.partialDeepStrictEqual(asked[0]?.toolCall, {
    kind: 'delete',
    status: 'pending',
    locations: [{ path: '/srv/project/src/hello.txt' }],
  });
  await dispose();
});
