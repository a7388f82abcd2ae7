/**
 * Every argument of every tool with every kind of malformed value. A mistake of the caller is E_VALIDATION_FAIL; policy
 * refuses what is well-formed and not allowed; no value makes the runtime fail.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createAst } from '@tool-runtime/ast';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { openScratchRuntime, type ScratchRuntime } from '@tool-runtime/sdk/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';

const REGISTRY = `version: 1
network: {allowed_domains: [allowed.invalid]}
git: {allow_push: true}
shell_allow: ['^echo( |$)']
`;

/** Arguments that the schema of each tool takes. A tool without an entry fails the test. */
const BASES: Readonly<Record<string, JsonObject>> = {
  artifact_read: { artifact: 'none' },
  ast_edit: { operation: 'delete_symbol', target_node_id: 'none' },
  ast_external: { provider: 'none', request: { method: 'scan' } },
  ast_generate: {},
  ast_query: {},
  ast_validate: { rules: [{ id: 'r', must_have: ['docstring'] }] },
  change_apply: { change_id: 'none' },
  change_discard: { change_id: 'none' },
  change_list: {},
  change_show: { change_id: 'none' },
  tx_abort: {},
  tx_begin: {},
  tx_commit: {},
  change_undo: { change_id: 'none' },
  curl: { url: 'http://allowed.invalid/' },
  emit_metrics: {},
  file_edit: { path: 'a.txt', edits: [{ old: 'a', new: 'b' }] },
  file_patch: { path: 'a.txt', unified_diff: '' },
  file_read: { path: 'a.txt' },
  file_write: { path: 'w.txt', content: 'x' },
  fs_copy: { src: 'a.txt', dst: 'copy.txt' },
  fs_delete: { path: 'none.txt' },
  fs_list: { glob: '*' },
  fs_move: { src: 'none.txt', dst: 'none2.txt' },
  fs_stat: { path: ['a.txt', 'none.txt'] },
  fs_tree: {},
  git_abort: {},
  git_add: { paths: ['a.txt'] },
  git_blame: { path: 'a.txt' },
  git_branch: {},
  git_checkout: { ref: 'none' },
  git_commit: { message: 'x' },
  git_conflicts: {},
  git_continue: {},
  git_diff: {},
  git_fetch: {},
  git_log: {},
  git_merge: { ref: 'none' },
  git_pull: {},
  git_push: {},
  git_rebase: { ref: 'none' },
  git_recover: {},
  git_restore: { paths: ['a.txt'] },
  git_show: { ref: 'HEAD' },
  git_stash: { action: 'list' },
  git_status: {},
  grep: { pattern: 'x' },
  job_input: { job: 'none', text: 'x' },
  job_list: {},
  job_poll: { job: 'none' },
  job_stop: { job: 'none' },
  proc_list: {},
  shell_exec: { cmd: 'echo' },
  validate: {},
};

const VALUES: Readonly<Record<string, JsonValue>> = {
  null: null,
  boolean: true,
  number: 7,
  'huge number': 1e308,
  'past the safe integers': 2 ** 53,
  'negative number': -1,
  empty: '',
  NUL: 'a\0b',
  'half of a surrogate pair': 'a\ud800',
  'a long text': 'x'.repeat(100_000),
  option: '--upload-pack=touch x',
  array: [],
  'array with NUL': ['a\0b'],
  'array with half of a pair': ['\ud800'],
  object: {},
  'nested object': { a: { b: [{ c: null }] } },
  'URL without end of host': 'http://[',
  'URL without host': 'http://',
  'URL of nothing': ':',
  'URL with a bad port': 'http://allowed.invalid:99999/',
  'URL without scheme': 'allowed.invalid',
};

interface Listed {
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Arguments that hold a path or a URL, by what the tools declare. */
const PATH_ARGUMENTS = /^(?:path|paths|src|dst|file|to_file|cwd)$/;
const isMalformedUrl = (value: JsonValue): boolean => typeof value === 'string' && !URL.canParse(value);

function holds(value: JsonValue, pattern: RegExp): boolean {
  return typeof value === 'string'
    ? pattern.test(value)
    : Array.isArray(value) && value.some((one) => holds(one, pattern));
}

describe('malformed arguments', () => {
  let scratch: ScratchRuntime;

  before(async () => {
    scratch = await openScratchRuntime({ ast: createAst(), registry: { file: 'r.yaml', text: REGISTRY } });
    writeFileSync(join(scratch.workspace, 'a.txt'), 'x\n');
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid'];
    for (const words of [
      ['init', '-q'],
      ['add', '.'],
      [...identity, 'commit', '-qm', 'x'],
    ]) {
      execFileSync('git', words, { cwd: scratch.workspace });
    }
  });
  after(() => scratch.dispose());

  async function codeOf(tool: string, args: JsonObject): Promise<string> {
    const { ok, errors } = await scratch.session.call(tool, args);
    return ok ? 'ok' : (errors[0]?.code ?? 'none');
  }

  test('every tool is tried', () => {
    assert.deepEqual(
      scratch.session
        .tools()
        .map(({ name }) => name)
        .sort(),
      Object.keys(BASES).sort(),
    );
  });

  for (const [tool, base] of Object.entries(BASES)) {
    test(`of ${tool} are the caller's mistake`, async () => {
      const [listing] = scratch.session.tools(tool);
      const schema = listing?.argsSchema ?? assert.fail('not offered');
      const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
      assert.ok(fits(base), JSON.stringify(fits.errors));
      assert.notEqual(await codeOf(tool, base), 'E_INTERNAL');
      for (const name of Object.keys((schema as Listed).properties ?? {})) {
        for (const [kind, value] of Object.entries(VALUES)) {
          const args = { ...base, [name]: value };
          const code = await codeOf(tool, args);
          assert.notEqual(code, 'E_INTERNAL', `${name}: ${kind}`);
          const isMistake =
            !fits(args) ||
            JSON.stringify(value).includes('\\ud800') ||
            (PATH_ARGUMENTS.test(name) && holds(value, /\0|^$/)) ||
            (name === 'url' && (isMalformedUrl(value) || holds(value, /\0/)));
          if (isMistake) assert.equal(code, 'E_VALIDATION_FAIL', `${name}: ${kind}`);
        }
      }
      for (const args of [null, [], 'text', 7, { ...base, no_such_argument: 1 }]) {
        assert.equal(await codeOf(tool, args as JsonObject), 'E_VALIDATION_FAIL', JSON.stringify(args));
      }
    });
  }

  test('are told from what is well-formed and not allowed', async () => {
    const table: readonly (readonly [string, JsonObject, string])[] = [
      ['curl', { url: 'http://[' }, 'E_VALIDATION_FAIL'],
      ['curl', { url: 'http://forbidden.invalid/' }, 'E_POLICY'],
      ['curl', { url: 'ftp://allowed.invalid/' }, 'E_POLICY'],
      ['curl', { url: 'http://user:word@allowed.invalid/' }, 'E_POLICY'],
      ['curl', { url: 'http://allowed.invalid/a b' }, 'E_POLICY'],
      ['curl', { url: 'http://allowed.invalid/' }, 'E_HTTP'],
      ['file_read', { path: 'a\0' }, 'E_VALIDATION_FAIL'],
      ['file_read', { path: 'x/'.repeat(3000) }, 'E_VALIDATION_FAIL'],
      ['file_read', { path: '../a.txt' }, 'E_POLICY'],
      ['file_read', { path: '/etc/passwd' }, 'E_POLICY'],
      ['file_read', { path: 'a.txt' }, 'ok'],
    ];
    for (const [tool, args, expected] of table) {
      assert.equal(await codeOf(tool, args), expected, JSON.stringify(args).slice(0, 60));
    }
  });
});
