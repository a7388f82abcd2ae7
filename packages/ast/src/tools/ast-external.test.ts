/** TypeScript 7 and oxlint run for real; Semgrep is a stand-in that prints what its documented format describes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openCodeRuntime } from '../../test/code-runtime.ts';

const PROGRAMS = {
  programs: true,
  registry: 'side_effect_level: process_exec\nisolation: none',
} as const;
const FILES = {
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true } }\n',
  'src/a.ts': 'export function load(): number {\n  return 1;\n}\n',
  'src/b.ts': "import { load } from './a.ts';\nexport const one = load();\n",
};

interface Answer {
  readonly provider: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a provider answers
  readonly response: any;
}

const SEMGREP = {
  version: '1.100.0',
  errors: [],
  paths: { scanned: ['src/a.ts'] },
  results: [
    {
      check_id: 'no-load',
      path: 'src/a.ts',
      start: { line: 2, col: 3, offset: 35 },
      end: { line: 2, col: 11, offset: 43 },
      extra: { message: 'Do not load', severity: 'ERROR', metadata: {} },
    },
  ],
};

describe('ast_external [S0-56]', () => {
  test('asks a real language server, by URI and by path, and answers relative paths [S0-56] (deep)', async () => {
    await using code = await openCodeRuntime(FILES, PROGRAMS);
    const uri = pathToFileURL(`${code.workspace}/src/a.ts`).href;
    const ask = (method: string, params: object) =>
      code.ask<Answer>('ast_external', { provider: 'typescript', request: { method, params } });
    const symbols = await ask('textDocument/documentSymbol', { uri });
    assert.equal(symbols.provider, 'typescript');
    assert.equal(symbols.response[0].name, 'load');
    const position = { line: 0, character: 17 };
    const found = await ask('textDocument/references', {
      textDocument: { uri: 'src/a.ts' },
      position,
      context: { includeDeclaration: false },
    });
    const files = found.response.map((one: { uri: string }) => one.uri);
    assert.deepEqual(new Set(files), new Set(['src/b.ts']));
    assert.ok(!JSON.stringify([symbols, found]).includes(code.workspace), 'no place of the host');
  });

  test('a server is told what the runtime wrote and what others did [S0-78] (deep)', async () => {
    await using code = await openCodeRuntime(FILES, PROGRAMS);
    const references = async () => {
      const params = { textDocument: { uri: 'src/a.ts' }, position: { line: 0, character: 17 } };
      const context = { includeDeclaration: false };
      const request = { method: 'textDocument/references', params: { ...params, context } };
      const { response } = await code.ask<Answer>('ast_external', { provider: 'typescript', request });
      return [...new Set(response.map((one: { uri: string }) => one.uri))].sort();
    };
    await code.ask('ast_generate', {});
    assert.deepEqual(await references(), ['src/b.ts']);
    const use = "import { load } from './a.ts';\nload();\n";
    await code.ask('file_write', { path: 'src/c.ts', content: use });
    assert.deepEqual(await references(), ['src/b.ts', 'src/c.ts']);
    code.write({ 'src/d.ts': use, 'src/c.ts': null });
    assert.deepEqual(await references(), ['src/b.ts', 'src/d.ts']);
  });

  test('refuses what changes something, what lies outside, and providers that are not configured [S0-56] (deep)', async () => {
    await using code = await openCodeRuntime(FILES, PROGRAMS);
    const refuse = (provider: string, method: string, params: object) =>
      code.refusal('ast_external', { provider, request: { method, params } });
    const outside = { uri: 'file:///etc/passwd' };
    assert.equal((await refuse('typescript', 'textDocument/documentSymbol', outside)).code, 'E_POLICY');
    assert.equal((await refuse('typescript', 'textDocument/documentSymbol', { uri: '../x.ts' })).code, 'E_POLICY');
    const method = await refuse('typescript', 'workspace/executeCommand', { command: 'x' });
    assert.deepEqual([method.code, method.details?.['reason']], ['E_POLICY', 'method_not_allowed']);
    const unknown = await refuse('cobol-server', 'textDocument/hover', {});
    assert.deepEqual([unknown.code, unknown.details?.['reason']], ['E_POLICY', 'not_configured']);
    assert.equal((await refuse('cobolint', 'scan', {})).details?.['reason'], 'unknown_provider');
    assert.equal((await refuse('semgrep', 'scan', { config: '../rules' })).code, 'E_POLICY');
    assert.equal((await refuse('semgrep', 'scan', { colour: 'red' })).code, 'E_VALIDATION_FAIL');
  });

  test('says what to install when a provider is known but not there [S0-56]', async () => {
    await using code = await openCodeRuntime(FILES, PROGRAMS);
    const server = await code.refusal('ast_external', {
      provider: 'rust-analyzer',
      request: { method: 'workspace/symbol', params: { query: 'x' } },
    });
    assert.match(String(server.details?.['next']), /install rust-analyzer/);
    const analyzer = await code.refusal('ast_external', {
      provider: 'semgrep',
      request: { method: 'scan', params: { config: 'rules.yml' } },
    });
    assert.deepEqual([analyzer.code, analyzer.details?.['reason']], ['E_SHELL', 'not_installed']);
    assert.match(String(analyzer.details?.['next']), /install Semgrep/);
  });

  test('runs analyzers, names the declaration around each finding, and keeps to the paths asked for [S0-56]', async () => {
    await using code = await openCodeRuntime(
      { ...FILES, 'bad.js': 'function f() {\n  debugger;\n}\nf();\n' },
      PROGRAMS,
    );
    code.program('semgrep', `cat <<'END'\n${JSON.stringify(SEMGREP)}\nEND\nexit 1`);
    const scan = (provider: string, params: object) =>
      code.ask<Answer>('ast_external', { provider, request: { method: 'scan', params } });
    const { response } = await scan('semgrep', { config: 'rules.yml' });
    const { nodes } = await code.ask<{ nodes: { id: string }[] }>('ast_query', { where: { name_like: 'load' } });
    assert.deepEqual(response.findings, [
      {
        ...{ rule: 'no-load', level: 'error', message: 'Do not load', file: 'src/a.ts' },
        ...{ line: 2, col: 3, end_line: 2, end_col: 11, span: { start: 35, end: 43 }, node_id: nodes[0]?.id },
      },
    ]);
    const linted = await scan('oxlint', { paths: ['bad.js'] });
    assert.deepEqual(
      linted.response.findings.map((one: { file: string; line: number }) => [one.file, one.line]),
      [['bad.js', 2]],
    );
  });

  test('the registry adds providers and switches known ones off [S0-56]', async () => {
    const providers = `providers:
  house-lint: {kind: analyzer, command: [house-lint, --sarif], format: semgrep-json, good_codes: [0, 1]}
  semgrep: {enabled: false}
  typescript: {enabled: false}`;
    await using code = await openCodeRuntime(FILES, { programs: true, registry: `isolation: none\n${providers}` });
    code.program('house-lint', `cat <<'END'\n${JSON.stringify(SEMGREP)}\nEND`);
    const request = { method: 'scan', params: {} };
    const { response } = await code.ask<Answer>('ast_external', { provider: 'house-lint', request });
    assert.equal(response.findings.length, 1);
    assert.equal((await code.refusal('ast_external', { provider: 'semgrep', request })).code, 'E_VALIDATION_FAIL');
    const hover = { method: 'textDocument/hover', params: { uri: 'src/a.ts' } };
    assert.equal((await code.refusal('ast_external', { provider: 'typescript', request: hover })).code, 'E_POLICY');
  });

  test('a session that leaves a provider of its host out does not get the known one instead [S0-56]', async () => {
    const registry = 'isolation: none\nproviders: {semgrep: {enabled: false}, typescript: {enabled: false}}';
    await using code = await openCodeRuntime(FILES, { programs: true, registry });
    const text = 'version: 1\nisolation: none\nside_effect_level: process_exec\n';
    const narrow = await code.runtime.openSession({ registry: { file: 's.yaml', text } });
    const ask = async (provider: string, request: object) =>
      (await narrow.call('ast_external' as string, { provider, request })).errors[0];
    const scan = await ask('semgrep', { method: 'scan', params: { config: 'r.yml' } });
    assert.equal(scan?.details?.['reason'], 'unknown_provider');
    const hover = await ask('typescript', { method: 'textDocument/hover', params: { uri: 'src/a.ts' } });
    assert.equal(hover?.details?.['reason'], 'not_configured');
    assert.equal((await ask('oxlint', { method: 'scan', params: { paths: ['src'] } }))?.code, undefined);
  });

  test('a registry without programs hides it [S0-56]', async () => {
    await using code = await openCodeRuntime(FILES);
    const request = { method: 'scan', params: {} };
    assert.equal((await code.refusal('ast_external', { provider: 'oxlint', request })).code, 'E_POLICY');
    assert.ok(!code.session.tools().some(({ name }) => name === 'ast_external'));
    assert.ok(code.session.tools().some(({ name }) => name === 'ast_query'));
  });

  test('a provider that cannot be understood stops the runtime from opening [S0-56]', async () => {
    for (const entry of [
      '{kind: robot}',
      '{kind: analyzer}',
      '{kind: analyzer, command: [x]}',
      '{kind: lsp, command: a/b}',
    ]) {
      await assert.rejects(
        openCodeRuntime(FILES, { registry: `providers: {mine: ${entry}}` }),
        /Provider is not valid|Registry refused: .* providers\.mine\.kind robot/,
        entry,
      );
    }
  });
});
