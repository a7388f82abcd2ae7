import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Session } from '@tool-runtime/sdk';
import { type CodeRuntime, type Files, openCodeRuntime } from '../../test/code-runtime.ts';
import { scripted } from '../../test/scratch-servers.ts';

const PROGRAMS = {
  programs: true,
  registry:
    'side_effect_level: process_exec\nast: { diagnostics_wait_ms: 10000 }\ntools: { file_edit: { timeout_ms: 300000 }, ast_external: { timeout_ms: 300000 } }',
};

interface Language {
  readonly files: Files;
  readonly provider: string;
  readonly path: string;
  /** Where errors are put; `mistake` makes one that has not been there. */
  readonly mark: string;
  mistake(at: number): string;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  pyright: {
    provider: 'pyright',
    path: 'a.py',
    files: { 'pyproject.toml': '', 'a.py': 'old: int = "was wrong before"\n# here\n' },
    mark: '# here\n',
    mistake: (at) => `new_${at}: int = "wrong ${at}"\n`,
  },
  gopls: {
    provider: 'gopls',
    path: 'a.go',
    files: {
      'go.mod': 'module example.com/a\n\ngo 1.19\n',
      'a.go': 'package a\n\nvar Old int = "was wrong before"\n// here\n',
    },
    mark: '// here\n',
    mistake: (at) => `var New${at} int = "wrong ${at}"\n`,
  },
  typescript: {
    provider: 'typescript',
    path: 'a.ts',
    files: {
      'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true } }\n',
      'a.ts': 'export const old: number = "was wrong before";\n// here\n',
    },
    mark: '// here\n',
    mistake: (at) => `export const new${at}: number = "wrong ${at}";\n`,
  },
};

/** A busy machine may need longer than the bound allows: then the answer says so, and the next edit is asked about. */
async function untilTold(code: CodeRuntime, { path, mark, mistake }: Language): Promise<ToolResponse> {
  for (let at = 1; ; at++) {
    const answer = await code.call('file_edit', { path, old: mark, new: `${mistake(at)}${mark}` });
    assert.ok(answer.ok, JSON.stringify(answer.errors));
    const reasons = answer.warnings.map(({ details }) => details?.['reason']);
    if (reasons.includes('new_diagnostics')) return answer;
    assert.ok(at < 40, `nothing was told: ${JSON.stringify(answer.warnings)}`);
  }
}

describe('file_edit beside a language server that runs', () => {
  for (const [name, language] of Object.entries(LANGUAGES)) {
    test(`says what ${name} finds wrong and did not before (deep)`, async () => {
      await using code = await openCodeRuntime(language.files, PROGRAMS);
      const { path, provider } = language;
      const silent = await code.call('file_edit', {
        path,
        old: language.mark,
        new: `${language.mark}${language.mark}`,
      });
      assert.deepEqual(silent.warnings, [], 'no server is started for it');
      await code.call('file_edit', { path, old: `${language.mark}${language.mark}`, new: language.mark });
      const request = { method: 'textDocument/documentSymbol', params: { textDocument: { uri: path } } };
      await code.ask('ast_external', { provider, request });
      const { warnings } = await untilTold(code, language);
      const news = warnings.find(({ details }) => details?.['reason'] === 'new_diagnostics');
      const violations = news?.details?.['violations'] as { path: string; line: number; message: string }[];
      assert.ok(violations.length > 0);
      for (const { path: file, message, line } of violations) {
        assert.equal(file, path);
        assert.ok(line > 1, `line ${line}: ${message}`);
        assert.match(message, /^(?:error|warning)/);
      }
      assert.match(
        news?.message ?? '',
        /^Language server found \d+ new errors? and \d+ new warnings after the change$/,
      );
      const { text } = code.session.present(
        { tool: 'file_edit', args: { path, old: 'a', new: 'b' } },
        await untilTold(code, language),
      );
      assert.match(text, new RegExp(`^- ${path}:\\d+: error`, 'm'));
    });
  }
});

describe('an edit that does not wait for the server', () => {
  const fault = (message: string) => ({
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } },
    ...{ message, severity: 1 },
  });
  const full = (...messages: readonly string[]) => [{ answer: { kind: 'full', items: messages.map(fault) } }];

  /** The server answers one question after the other; sessions of the runtime differ in how long they wait. */
  async function open(answers: readonly object[][]) {
    const provider = scripted(
      { capabilities: { diagnosticProvider: {} }, on: { 'textDocument/diagnostic': answers as never } },
      { documents: { '.ts': 'typescript' } },
    );
    const { command, args, documents } = provider;
    const off = ['typescript', 'typescript-language-server'].map((name) => `${name}: {enabled: false}`);
    const own = `scripted: ${JSON.stringify({ kind: 'lsp', command, args, documents, languages: ['typescript'] })}`;
    const registry = `side_effect_level: process_exec\nisolation: none\nproviders: {${[...off, own].join(', ')}}`;
    const code = await openCodeRuntime({ 'a.ts': 'export const a = 1;\n' }, { programs: true, registry });
    const patient = (ms: number) =>
      code.runtime.openSession({
        registry: { file: 's.yaml', text: `version: 1\n${registry}\nast: {diagnostics_wait_ms: ${ms}}\n` },
      });
    const request = { method: 'textDocument/documentSymbol', params: { uri: 'a.ts' } };
    // It answers that it does not know the method; it runs then.
    await code.call('ast_external', { provider: 'scripted', request });
    let value = 1;
    const edit = async (session: Session): Promise<readonly (readonly [unknown, string])[]> => {
      const { ok, errors, warnings } = await session.call('file_edit', {
        path: 'a.ts',
        old: `a = ${value}`,
        new: `a = ${++value}`,
      });
      assert.ok(ok, JSON.stringify(errors));
      return warnings.map(({ details, message }) => [
        details?.['reason'],
        JSON.stringify(details?.['violations'] ?? message),
      ]);
    };
    return { code, edit, never: await patient(0), always: await patient(10_000) };
  }

  test('says so, and the next one tells what was found meanwhile', async () => {
    const { code, edit, never, always } = await open([
      full('old'),
      full('old'),
      full('old', 'new'),
      full('old', 'new'),
    ]);
    await using _ = code;
    assert.deepEqual(await edit(always), [], 'what was there before is not new');
    const [late, ...more] = await edit(never);
    assert.deepEqual([late?.[0], more], ['diagnostics_late', []]);
    const [found, ...others] = await edit(always);
    assert.deepEqual([found?.[0], others], ['new_diagnostics', []]);
    assert.match(found?.[1] ?? '', /error: new/);
    assert.doesNotMatch(found?.[1] ?? '', /error: old/);
    assert.deepEqual(await edit(always), [], 'told once');
  });

  test('tells everything where the state before is unknown, and says that some may be older', async () => {
    const { code, edit, never, always } = await open([full('first')]);
    await using _ = code;
    assert.equal((await edit(never))[0]?.[0], 'diagnostics_late');
    const response = await always.call('file_edit', { path: 'a.ts', old: 'a = 2', new: 'a = 3' });
    assert.match(response.warnings[0]?.message ?? '', /1 new error .* some may be older: a\.ts/);
  });

  test('ast_edit leaves the list of diagnostics out instead of showing an empty one', async () => {
    const { code, never, always } = await open([full()]);
    await using _ = code;
    const doc = (session: Session, text: string) =>
      session.call('ast_edit' as string, { operation: 'set_doc', file: 'a.ts', name: 'a', text, server: 'never' });
    const late = await doc(never, 'One.');
    assert.deepEqual(late.errors, []);
    assert.equal(late.warnings[0]?.details?.['reason'], 'diagnostics_late');
    assert.ok(!('diagnostics' in (late.data as object)));
    const { data } = await doc(always, 'Two.');
    assert.deepEqual((data as { diagnostics?: unknown }).diagnostics, []);
  });
});
