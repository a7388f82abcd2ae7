import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import {
  openScratchServers,
  received,
  type ScratchOptions,
  type Script,
  scripted,
  until,
} from '../../test/scratch-servers.ts';
import type { LspProvider } from './known-providers.ts';
import type { ServerQueries } from './server-queries.ts';

const FILES = { 'a.txt': 'one two\n', 'b.txt': 'two\n' };
const AT = { path: 'a.txt', line: 0, character: 4 };

const range = (line: number, from: number, to: number) => ({
  start: { line, character: from },
  end: { line, character: to },
});
const edit = (line: number, from: number, to: number) => ({ range: range(line, from, to), newText: 'three' });
const PARTIAL = { changes: { '@uri:a.txt': [edit(0, 4, 7)] } };
const WHOLE = { changes: { '@uri:a.txt': [edit(0, 4, 7)], '@uri:b.txt': [edit(0, 0, 3)] } };

async function open(t: TestContext, script: Script, changes: Partial<LspProvider> = {}, options: ScratchOptions = {}) {
  const scratch = openScratchServers(t, { files: FILES, providers: [scripted(script, changes)], ...options });
  return { ...scratch, server: await scratch.manager.serverOf('scripted') };
}

function failing(code: string, reason: string) {
  return (thrown: unknown): boolean => {
    assert.ok(isToolError(thrown), String(thrown));
    assert.deepEqual([thrown.code, thrown.details['reason']], [code, reason], JSON.stringify(thrown.toEntry()));
    return true;
  };
}

async function failureOf(work: Promise<unknown>): Promise<ToolError> {
  const thrown = await work.then(
    () => assert.fail('did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(isToolError(thrown), String(thrown));
  return thrown;
}

describe('a server that is not ready yet', () => {
  const script: Script = {
    afterInitialized: [
      { wait: 150 },
      { set: 'ready' },
      { notify: 'window/logMessage', params: { message: 'Found 2 source files' } },
    ],
    on: { 'textDocument/rename': [[{ answer: PARTIAL }]], 'textDocument/rename@ready': [[{ answer: WHOLE }]] },
  };
  const ready = { kind: 'log-match', lines: ['Found * source file*'], rescanMs: 100 } as const;

  test('is waited for, so that a rename is whole [S0-54]', async (t) => {
    const { server } = await open(t, script, { ready });
    assert.deepEqual(Object.keys((await server.rename(AT, 'three')).files), ['a.txt', 'b.txt']);
  });

  test('gives the partial answer without the wait: the trap is real [S0-54]', async (t) => {
    const { server } = await open(t, { ...script, afterInitialized: [] });
    assert.deepEqual(Object.keys((await server.rename(AT, 'three')).files), ['a.txt']);
  });

  test('is asked by the probe until an answer proves that it knows the project [S0-54]', async (t) => {
    const found = (path: string) => ({ uri: `@uri:${path}`, range: range(0, 0, 3) });
    const { server } = await open(t, {
      on: {
        'textDocument/references': [
          [{ answer: [found('a.txt')] }],
          [{ answer: [] }],
          [{ answer: [found('b.txt')] }, { set: 'ready' }],
        ],
        'textDocument/rename': [[{ answer: PARTIAL }]],
        'textDocument/rename@ready': [[{ answer: WHOLE }]],
      },
    });
    const probe = async (queries: ServerQueries) => {
      const places = await queries.references(AT);
      return places.some(({ path }) => path === 'b.txt');
    };
    assert.deepEqual(Object.keys((await server.rename(AT, 'three', { probe })).files), ['a.txt', 'b.txt']);
  });

  test('past the limit is E_TIMEOUT with server_indexing, for the strategy and for the probe [S0-54] (deep)', async (t) => {
    const { server } = await open(t, {}, { ready });
    await server.start();
    await assert.rejects(server.rename(AT, 'three', { timeoutMs: 500 }), failing('E_TIMEOUT', 'server_indexing'));
    const { server: other } = await open(t, {});
    await other.start();
    const never = async () => false;
    await assert.rejects(other.hover(AT, { timeoutMs: 500, probe: never }), failing('E_TIMEOUT', 'server_indexing'));
  });

  test('that dies while it is waited for says so', async (t) => {
    const { server } = await open(t, { afterInitialized: [{ wait: 50 }, { die: 4 }] }, { ready });
    const { details } = await failureOf(server.rename(AT, 'three'));
    assert.deepEqual([details['reason'], details['exit']], ['server_exited', 4]);
  });
});

describe('a server that fails', () => {
  test('by dying in a request rejects it and all others, and is started again (deep)', async (t) => {
    const { server } = await open(t, {
      on: { 'textDocument/hover': [[]], 'textDocument/rename': [[{ complain: 'first\nout of luck\n' }, { die: 3 }]] },
    });
    const pending = failureOf(server.hover(AT));
    await until(async () => (await received(server)).some(({ method }) => method === 'textDocument/hover'));
    const { code, details } = await failureOf(server.rename(AT, 'three'));
    assert.deepEqual(
      [code, details['reason'], details['exit'], details['complaint']],
      ['E_INTERNAL', 'server_exited', 3, 'out of luck'],
    );
    assert.equal((await pending).details['reason'], 'server_exited');
    const before = server.generation;
    await received(server);
    assert.ok(server.generation > before);
  });

  test('by exiting between two requests is found out and says how it ended', async (t) => {
    const { server } = await open(t, { on: { 'textDocument/didOpen': [[{ die: 9 }]] } });
    const { details } = await failureOf(server.hover(AT));
    assert.deepEqual([details['reason'], details['exit']], ['server_exited', 9]);
  });

  test('by answering as it exits is still heard', async (t) => {
    const answer = { contents: 'last words' };
    const { server } = await open(t, { on: { 'textDocument/hover': [[{ answer }, { wait: 20 }, { die: 0 }]] } });
    assert.deepEqual(await server.hover(AT), { text: 'last words' });
  });

  for (const [name, print] of [
    ['a banner', 'Debug: hello\nworld\n'],
    ['no JSON', 'Content-Length: 5\r\n\r\n{nope'],
    ['a frame that is too long', 'Content-Length: 99999999999\r\n\r\n'],
  ]) {
    test(`by printing ${name} is ended with a coded error (deep)`, async (t) => {
      const { server } = await open(t, { on: { 'textDocument/hover': [[{ print }]] } });
      await assert.rejects(server.hover(AT), failing('E_INTERNAL', 'malformed_frame'));
      await until(() => server.state === 'stopped');
      assert.ok((await received(server)).length > 0, 'a new process answers');
    });
  }

  test('by answering nonsense is refused without ending it', async (t) => {
    const noAnswer = { error: null };
    const bad = [[{ answer: { contents: 7 } }], [{ answer: [] }], [noAnswer]];
    const { server } = await open(t, { on: { 'textDocument/hover': [...bad, [{ answer: { contents: 'fine' } }]] } });
    for (const _ of bad) await assert.rejects(server.hover(AT), failing('E_INTERNAL', 'bad_answer'));
    assert.deepEqual(await server.hover(AT), { text: 'fine' });
    assert.equal(server.generation, 1);
  });

  test('by silence is cancelled at the limit and by the signal, and goes on serving', async (t) => {
    const { server } = await open(t, { on: { 'textDocument/hover': [[]] } });
    await server.start();
    await assert.rejects(server.hover(AT, { timeoutMs: 500 }), failing('E_TIMEOUT', 'request_timeout'));
    const stop = new AbortController();
    const pending = failureOf(server.hover(AT, { signal: stop.signal }));
    await until(
      async () => (await received(server)).filter(({ method }) => method === 'textDocument/hover').length === 2,
    );
    stop.abort();
    assert.equal((await pending).details['kind'], 'cancellation');
    const messages = await received(server);
    const asked = messages.filter(({ method }) => method === 'textDocument/hover').map(({ id }) => id);
    const cancelled = messages.filter(({ method }) => method === '$/cancelRequest').map(({ params }) => params.id);
    assert.deepEqual(cancelled, asked);
    assert.equal(server.generation, 1);
  });

  test('by complete silence is ended after three requests (deep)', async (t) => {
    const quiet: Script = { on: { 'textDocument/hover': [[]] } };
    const { server } = await open(t, quiet);
    await server.start();
    for (let turn = 0; turn < 3; turn++) {
      await assert.rejects(server.hover(AT, { timeoutMs: 500 }), failing('E_TIMEOUT', 'request_timeout'));
    }
    await until(() => server.state === 'stopped');
  });

  test('by not reading is E_TIMEOUT, and still ends when told (deep)', async (t) => {
    const { server, manager, write } = await open(t, { afterInitialized: [{ deafen: true }] });
    write('a.txt', 'x'.repeat(1024 * 1024));
    await server.start();
    await assert.rejects(server.hover(AT, { timeoutMs: 500 }), failing('E_TIMEOUT', 'request_timeout'));
    await manager.close();
    assert.equal(server.state, 'stopped');
  });

  test('by flooding us is ended before it fills our memory (deep)', async (t) => {
    const { server } = await open(t, { on: { 'textDocument/hover': [[{ flood: 400_000 }]] } });
    await assert.rejects(server.hover(AT), failing('E_INTERNAL', 'malformed_frame'));
  });

  test('by not answering the handshake is E_TIMEOUT for the caller', async (t) => {
    const { server } = await open(t, { on: { initialize: [[]] } });
    await assert.rejects(server.hover(AT, { timeoutMs: 200 }), failing('E_TIMEOUT', 'server_starting'));
    assert.equal(server.state, 'starting');
  });

  test('by counting in other units than UTF-16 is not used', async (t) => {
    const { server } = await open(t, { capabilities: { positionEncoding: 'utf-8' } });
    await assert.rejects(server.hover(AT), failing('E_INTERNAL', 'bad_answer'));
    const { server: right } = await open(t, { capabilities: { positionEncoding: 'utf-16' } });
    await right.start();
  });

  test('by refusing is quoted, with a code that says whose fault it is', async (t) => {
    const error = (code: number) => [{ error: { code, message: 'No references at file:///etc/passwd' } }];
    const { server } = await open(t, {
      on: {
        'textDocument/rename': [error(-32600)],
        'textDocument/references': [error(-32602), error(-32801), error(-32603)],
        'textDocument/definition': [error(-32601)],
      },
    });
    const rename = await failureOf(server.rename(AT, 'x'));
    assert.deepEqual([rename.code, rename.details['reason']], ['E_AST_EDIT', 'server_refused']);
    assert.match(String(rename.details['said']), /^No references at external:[0-9a-f]{12}\/passwd$/);
    await assert.rejects(server.references(AT), failing('E_VALIDATION_FAIL', 'server_refused'));
    await assert.rejects(server.references(AT), failing('E_INTERNAL', 'server_cancelled'));
    await assert.rejects(server.references(AT), failing('E_INTERNAL', 'server_refused'));
    await assert.rejects(server.definition(AT), failing('E_VALIDATION_FAIL', 'not_supported'));
  });
});

describe('a server that names files outside', () => {
  const outside = { uri: 'file:///usr/lib/secret/x.py', range: range(1, 2, 3) };

  test('has them replaced in answers by opaque names [S0-56]', async (t) => {
    const { server } = await open(t, {
      on: {
        'textDocument/definition': [[{ answer: [outside, { uri: '@uri:b.txt', range: range(0, 0, 3) }] }]],
        'textDocument/hover': [[{ answer: { contents: ['see file:///usr/lib/secret/x.py', '@uri:b.txt'] } }]],
      },
    });
    const [first, second] = await server.definition(AT);
    assert.match(first?.path ?? '', /^external:[0-9a-f]{12}\/x\.py$/);
    assert.equal(second?.path, 'b.txt');
    assert.match((await server.hover(AT))?.text ?? '', /^see external:[0-9a-f]{12}\/x\.py\n\nb\.txt$/);
    const raw = await server.raw('textDocument/definition', { textDocument: { uri: 'a.txt' }, position: AT });
    assert.doesNotMatch(JSON.stringify(raw), /usr|secret/);
  });

  test('has its edit refused whole [S0-54]', async (t) => {
    const changes = { '@uri:a.txt': [edit(0, 4, 7)], 'file:///usr/lib/x.py': [edit(0, 0, 1)] };
    const { server } = await open(t, { on: { 'textDocument/rename': [[{ answer: { changes } }]] } });
    await assert.rejects(server.rename(AT, 'three'), failing('E_AST_EDIT', 'edit_outside_workspace'));
  });

  test('or nothing at all has its rename refused [S0-54]', async (t) => {
    const { server } = await open(t, {
      on: { 'textDocument/rename': [[{ answer: null }], [{ answer: { changes: {} } }]] },
    });
    await assert.rejects(server.rename(AT, 'three'), failing('E_AST_EDIT', 'empty_edit'));
    await assert.rejects(server.rename(AT, 'three'), failing('E_AST_EDIT', 'empty_edit'));
  });
});

describe('raw requests', () => {
  test('pass read methods on, with files by path [S0-56]', async (t) => {
    const { server } = await open(t, { on: { 'textDocument/hover': [[{ answer: { contents: 'x' } }]] } });
    const params = { textDocument: { uri: 'a.txt' }, position: { line: 0, character: 0 } };
    assert.deepEqual(await server.raw('textDocument/hover', params), { contents: 'x' });
    const opened = (await received(server)).find(({ method }) => method === 'textDocument/didOpen');
    assert.equal(opened?.params.textDocument.uri, 'a.txt');
  });

  for (const method of [
    'workspace/executeCommand',
    'textDocument/formatting',
    'shutdown',
    'textDocument/didChange',
    '$/cancelRequest',
    '',
  ]) {
    test(`refuse ${method || 'nothing'} [S0-56]`, async (t) => {
      const { server } = await open(t, {});
      await assert.rejects(server.raw(method, {}), failing('E_POLICY', 'method_not_allowed'));
    });
  }

  test('refuse files outside, also behind a link, before the server hears of them [S0-56]', async (t) => {
    const { server, root } = await open(t, { on: { 'textDocument/hover': [[{ answer: null }]] } });
    mkdirSync(join(root, 'sub'));
    symlinkSync('/etc', join(root, 'sub/link'));
    for (const uri of ['file:///etc/passwd', '/etc/passwd', '../x.txt', 'sub/link/passwd']) {
      const { code } = await failureOf(server.raw('textDocument/hover', { textDocument: { uri } }));
      assert.equal(code, 'E_POLICY', uri);
    }
    const messages = await received(server);
    assert.equal(
      messages.some(({ method }) => method === 'textDocument/hover' || method === 'textDocument/didOpen'),
      false,
    );
  });

  test("carry a server's own data from answer to request [S0-56]", async (t) => {
    const item = { name: 'two', kind: 12, uri: '@uri:a.txt', range: range(0, 4, 7), selectionRange: range(0, 4, 7) };
    const { server, root } = await open(t, {
      on: {
        'textDocument/prepareCallHierarchy': [[{ answer: [{ ...item, data: { place: '@uri:a.txt' } }] }]],
        'callHierarchy/incomingCalls': [[{ answer: [] }]],
      },
    });
    const position = { line: 0, character: 4 };
    const items = await server.raw('textDocument/prepareCallHierarchy', { textDocument: { uri: 'a.txt' }, position });
    assert.ok(!JSON.stringify(items).includes(root));
    const [first] = items as readonly unknown[];
    assert.deepEqual(await server.raw('callHierarchy/incomingCalls', { item: first }), []);
    const asked = (await received(server)).find(({ method }) => method === 'callHierarchy/incomingCalls');
    assert.deepEqual(asked?.params.item.data, { place: 'a.txt' }, 'whole again; the root is hidden by the test itself');
  });
});

describe('what a server asks its client', () => {
  test('is answered: settings, folders, registrations, never an edit, nothing unknown', async (t) => {
    const ask = (method: string, params: unknown) => ({ ask: method, params });
    const { server } = await open(
      t,
      {
        afterInitialized: [
          ask('workspace/configuration', { items: [{ section: 'python.analysis' }, { section: 'none.such' }, {}] }),
          ask('workspace/workspaceFolders', undefined),
          ask('client/registerCapability', { registrations: [{ id: '1', method: 'workspace/didChangeWatchedFiles' }] }),
          ask('window/workDoneProgress/create', { token: 1 }),
          ask('workspace/applyEdit', { edit: WHOLE }),
          ask('window/showMessageRequest', { type: 1, message: 'Well?', actions: [{ title: 'Yes' }] }),
          ask('made/up', {}),
        ],
      },
      { settings: { python: { analysis: { mode: 'strict' } } } },
    );
    await until(async () => (await received(server)).filter(({ id }) => typeof id === 'string').length === 7);
    const answers = (await received(server)).filter(({ id }) => typeof id === 'string').map(({ result }) => result);
    assert.deepEqual(answers, [
      [{ mode: 'strict' }, null, { python: { analysis: { mode: 'strict' } } }],
      [{ uri: '.', name: 'workspace' }],
      null,
      null,
      { applied: false, failureReason: 'Edits are applied by the client only when it asked for them' },
      null,
      null,
    ]);
    const hello = (await received(server)).find(({ method }) => method === 'initialize');
    assert.deepEqual(hello?.params.capabilities.general, { positionEncodings: ['utf-16'] });
    assert.equal(hello?.params.processId, null);
  });
});

describe('code actions', () => {
  const whole = { startLine: 0, startCharacter: 0, endLine: 0, endCharacter: 7 };
  const script: Script = {
    on: {
      'textDocument/codeAction': [
        [
          {
            answer: [
              { title: 'Fix', kind: 'quickfix', isPreferred: true, edit: WHOLE },
              { title: 'Later', data: { at: '@uri:a.txt' } },
              { title: 'Run', command: 'server.run', arguments: ['@uri:a.txt'] },
              { title: 'Not now', kind: 'see @uri:b.txt', disabled: { reason: 'no selection' } },
            ],
          },
        ],
      ],
      'codeAction/resolve': [
        [{ answer: { title: 'Later', edit: PARTIAL } }],
        [{ answer: { title: 'Run', command: 'server.run' } }],
      ],
    },
  };

  test('are listed by handle and resolved to plans; commands are not run', async (t) => {
    const { server, root } = await open(t, script);
    const actions = await server.codeActions('a.txt', whole, { only: ['quickfix'] });
    assert.deepEqual(
      actions.map(({ handle, ...rest }) => rest),
      [
        { title: 'Fix', kind: 'quickfix', isPreferred: true },
        { title: 'Later', isPreferred: false },
        { title: 'Run', isPreferred: false },
        { title: 'Not now', kind: 'see b.txt', isPreferred: false, disabled: 'no selection' },
      ],
    );
    assert.ok(!JSON.stringify(actions).includes(root));
    const [fix, later, run] = actions.map(({ handle }) => handle);
    assert.deepEqual(Object.keys((await server.resolveCodeAction(fix ?? '')).files), ['a.txt', 'b.txt']);
    assert.deepEqual(Object.keys((await server.resolveCodeAction(later ?? '')).files), ['a.txt']);
    await assert.rejects(server.resolveCodeAction(run ?? ''), failing('E_AST_EDIT', 'empty_edit'));
    const { code } = await failureOf(server.resolveCodeAction('kept:1.999'));
    assert.equal(code, 'E_VALIDATION_FAIL');
  });
});

describe('symbols and rename targets', () => {
  test('are read from every form the protocol knows', async (t) => {
    const nested = { name: 'A', kind: 5, range: range(0, 0, 9), selectionRange: range(0, 6, 7) };
    const flat = { name: 'f', kind: 12, location: { uri: '@uri:a.txt', range: range(1, 0, 9) } };
    const { server } = await open(t, {
      on: {
        'textDocument/documentSymbol': [
          [{ answer: [{ ...nested, children: [nested] }] }],
          [{ answer: [flat] }],
          [{ answer: null }],
        ],
        'textDocument/prepareRename': [
          [{ answer: range(0, 4, 7) }],
          [{ answer: { range: range(0, 4, 7), placeholder: 'two' } }],
          [{ answer: { range: range(0, 4, 7), placeholder: '@uri:b.txt' } }],
          [{ answer: { defaultBehavior: true } }],
          [{ answer: null }],
        ],
        'textDocument/implementation': [[{ answer: { uri: '@uri:b.txt', range: range(0, 0, 3) } }], [{ answer: null }]],
        'textDocument/definition': [
          [
            {
              answer: [{ targetUri: '@uri:b.txt', targetRange: range(0, 0, 9), targetSelectionRange: range(0, 0, 3) }],
            },
          ],
        ],
      },
    });
    const at = (line: number, from: number, to: number) => ({
      startLine: line,
      startCharacter: from,
      endLine: line,
      endCharacter: to,
    });
    const symbol = { name: 'A', kind: 5, range: at(0, 0, 9), nameRange: at(0, 6, 7), children: [] };
    assert.deepEqual(await server.documentSymbol('a.txt'), [{ ...symbol, children: [symbol] }]);
    const plain = { name: 'f', kind: 12, range: at(1, 0, 9), nameRange: at(1, 0, 9), children: [] };
    assert.deepEqual(await server.documentSymbol('a.txt'), [plain]);
    assert.deepEqual(await server.documentSymbol('a.txt'), []);
    assert.deepEqual(await server.prepareRename(AT), { range: at(0, 4, 7) });
    assert.deepEqual(await server.prepareRename(AT), { range: at(0, 4, 7), placeholder: 'two' });
    assert.deepEqual(await server.prepareRename(AT), { range: at(0, 4, 7), placeholder: 'b.txt' });
    assert.deepEqual(await server.prepareRename(AT), {});
    assert.equal(await server.prepareRename(AT), null);
    assert.deepEqual(await server.implementation(AT), [{ path: 'b.txt', ...at(0, 0, 3) }]);
    assert.deepEqual(await server.implementation(AT), []);
    assert.deepEqual(await server.definition(AT), [{ path: 'b.txt', ...at(0, 0, 3) }]);
  });
});

describe('diagnostics', () => {
  const fault = (message: string) => ({ range: range(0, 0, 3), message, severity: 1 });
  const publish = (version: number, message: string) => ({
    notify: 'textDocument/publishDiagnostics',
    params: { uri: '@uri:a.txt', version, diagnostics: [fault(message)] },
  });

  test('are those for the text we sent last, once reports stop coming', async (t) => {
    const { server, write, manager } = await open(t, {
      on: {
        'textDocument/didOpen': [[publish(1, 'syntax'), { wait: 50 }, publish(1, 'types')]],
        'textDocument/didChange': [[publish(1, 'late'), { wait: 30 }, publish(3, 'new')]],
      },
    });
    const messages = async () =>
      (await server.diagnostics('a.txt', { waitMs: 5_000 })).diagnostics.map(({ message }) => message);
    assert.deepEqual(await messages(), ['types']);
    write('a.txt', 'one two three\n');
    await manager.changed([{ path: 'a.txt', kind: 'changed' }]);
    assert.deepEqual(await messages(), ['new']);
  });

  test('of a file are asked for anew when another file changed (deep)', async (t) => {
    const { server, write, manager } = await open(t, {
      on: {
        'textDocument/didOpen': [[publish(1, 'before')]],
        'textDocument/didChange': [[publish(3, 'after')]],
      },
    });
    const messages = async () =>
      (await server.diagnostics('a.txt', { waitMs: 5_000 })).diagnostics.map(({ message }) => message);
    assert.deepEqual(await messages(), ['before']);
    assert.deepEqual(await messages(), ['before']);
    write('b.txt', 'three\n');
    await manager.changed([{ path: 'b.txt', kind: 'changed' }]);
    assert.deepEqual(await messages(), ['after']);
    assert.deepEqual(await messages(), ['after']);
  });

  test('that were not sent differ from an empty list', async (t) => {
    const { server } = await open(t, {});
    assert.deepEqual(await server.diagnostics('a.txt', { waitMs: 50 }), { isReported: false, diagnostics: [] });
  });

  test('are asked for where the server wants to be asked', async (t) => {
    const items = [{ range: range(0, 0, 3), message: 'pulled', severity: 2 }];
    const { server } = await open(t, {
      capabilities: { diagnosticProvider: {} },
      on: { 'textDocument/diagnostic': [[{ answer: { kind: 'full', items } }]] },
    });
    const answer = await server.diagnostics('a.txt');
    assert.equal(answer.isReported, true);
    assert.deepEqual(
      answer.diagnostics.map(({ severity, message }) => [severity, message]),
      [['warning', 'pulled']],
    );
  });
});
