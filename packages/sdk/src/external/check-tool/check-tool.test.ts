import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { checkTool } from './check-tool.ts';
import { CHECKS, type CheckId, type ToolCheckReport } from './checks.ts';
import type { CheckToolOptions } from './probe.ts';

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-checked-'));
// The checker makes its own folders here, so that the tests see whether it clears them away.
process.env['TMPDIR'] = join(scratch, 'tmp');
mkdirSync(join(scratch, 'tmp'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const SOURCE = join(import.meta.dirname, '../..');
const EXAMPLES = join(SOURCE, '../../../examples/external-tools');

/** A tool without a fault in shell; every test below changes one part of it. */
const GOOD = {
  capabilities: `echo '{"name":"sample","version":"1.0.0","protocol_version":1,"requires_pack":false}'`,
  version: 'echo 1.0.0',
  inputs: `case \${TOOL_INPUTS-} in '' | '{}') ;; *) echo 'bad inputs' >&2; exit 2 ;; esac`,
  config: `[ -z "\${TOOL_CONFIG-}" ] || { echo 'bad configuration' >&2; exit 2; }`,
  protocol: `[ "\${TOOL_PROTOCOL_VERSION-}" = 1 ] || { echo 'bad protocol' >&2; exit 2; }`,
  words: `for word; do case $word in -*) echo "bad word $word" >&2; exit 2 ;; esac; done`,
  folder: `[ -d "\${TOOL_RUN_DIR-}" ] || { echo 'bad run folder' >&2; exit 2; }`,
  work: `mkdir "$TOOL_RUN_DIR/outputs"; printf 'report\\n' >"$TOOL_RUN_DIR/outputs/report.txt"`,
  extra: ':',
  runId: '$TOOL_RUN_ID',
  startedAt: '$TOOL_STARTED_AT',
  status: 'success',
  outputs: `{"path":"outputs/report.txt","media_type":"text/plain","digest":"sha256:$(sha256sum "$TOOL_RUN_DIR/outputs/report.txt" | cut -c 1-64)","bytes":7}`,
  write: `cat >"$TOOL_RUN_DIR/result.json"`,
  end: ':',
};
type Parts = Partial<typeof GOOD>;

function plantTool(change: Parts = {}): string {
  const parts = { ...GOOD, ...change };
  const file = join(mkdtempSync(join(scratch, 'tool-')), 'sample.sh');
  const text = `#!/bin/sh
set -eu
case \${1-} in
--capabilities) ${parts.capabilities}; exit 0 ;;
--version) ${parts.version}; exit 0 ;;
esac
${[parts.inputs, parts.config, parts.protocol, parts.words, parts.folder, parts.work, parts.extra].join('\n')}
${parts.write} <<END
{"schema_version":1,"wrapper":{"name":"tool-runtime","version":"$TOOL_WRAPPER_VERSION"},
"tool":{"name":"$TOOL_NAME","version":"1.0.0","protocol_version":1},"run_id":"${parts.runId}",
"started_at":"${parts.startedAt}","completed_at":"$(date -u +%Y-%m-%dT%H:%M:%SZ)","duration_ms":1,
"exit_code":0,"tool_exit_code":0,"status":"${parts.status}","inputs":{},"outputs":[${parts.outputs}],
"errors":[],"warnings":[]}
END
${parts.end}
`;
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

function check(command: readonly string[], options: Partial<CheckToolOptions> = {}): Promise<ToolCheckReport> {
  const limits = { capabilitiesMs: 5000, terminateMs: 1000 };
  return checkTool({ command, profile: 'neutral', timeoutMs: 10_000, limits, ...options });
}

function idsWith({ checks }: ToolCheckReport, status: string): CheckId[] {
  return checks.filter((found) => found.status === status).map(({ id }) => id);
}

interface BadTool {
  readonly id: CheckId;
  readonly what: string;
  readonly parts: Parts;
  /** Where it is not a failure of this one alone. */
  readonly failed?: readonly CheckId[];
  readonly warned?: readonly CheckId[];
  readonly options?: Partial<CheckToolOptions>;
}

const capabilities = (fields: string): Parts => ({ capabilities: `echo '${fields}'` });
const onlyWarned = (id: CheckId) => ({ failed: [], warned: [id] });

const BAD_TOOLS: readonly BadTool[] = [
  { id: 'capabilities.answers', what: 'exits with 3', parts: { capabilities: 'exit 3' } },
  {
    id: 'capabilities.answers',
    what: 'never answers',
    parts: { capabilities: 'sleep 60' },
    options: { limits: { capabilitiesMs: 1500 } },
  },
  { id: 'capabilities.size', what: 'says too much', parts: { capabilities: `head -c 70000 /dev/zero | tr '\\0' x` } },
  { id: 'capabilities.json', what: 'prints plain text', parts: { capabilities: 'echo hello' } },
  { id: 'capabilities.json', what: 'prints a list', parts: capabilities('[]') },
  {
    id: 'capabilities.duplicate_keys',
    what: 'gives its name twice, once with an escape',
    parts: {
      capabilities: `printf '%s' '{"name":"sample","n\\u0061me":"other","version":"1","protocol_version":1,"requires_pack":false}'`,
    },
  },
  {
    id: 'capabilities.name',
    what: 'has a name with a blank',
    parts: capabilities('{"name":"a b","version":"1.0.0","protocol_version":1,"requires_pack":false}'),
  },
  {
    id: 'capabilities.version',
    what: 'has no version',
    parts: capabilities('{"name":"sample","protocol_version":1,"requires_pack":false}'),
  },
  {
    id: 'capabilities.protocol_version',
    what: 'speaks another version',
    parts: capabilities('{"name":"sample","version":"1.0.0","protocol_version":2,"requires_pack":false}'),
  },
  {
    id: 'capabilities.requires_pack',
    what: 'says it in words',
    parts: capabilities('{"name":"sample","version":"1.0.0","protocol_version":1,"requires_pack":"no"}'),
  },
  {
    id: 'capabilities.requires_pack',
    what: 'does not say it',
    parts: capabilities('{"name":"sample","version":"1.0.0","protocol_version":1}'),
    ...onlyWarned('capabilities.requires_pack'),
  },
  {
    id: 'capabilities.fields',
    what: 'has a network in words',
    parts: capabilities(
      '{"name":"sample","version":"1.0.0","protocol_version":1,"requires_pack":false,"network":"yes"}',
    ),
  },
  {
    id: 'capabilities.stderr',
    what: 'talks beside its answer',
    parts: { capabilities: `${GOOD.capabilities}; echo loading >&2` },
    ...onlyWarned('capabilities.stderr'),
  },
  { id: 'version.answers', what: 'does not know the option', parts: { version: 'exit 1' } },
  { id: 'version.answers', what: 'prints nothing', parts: { version: ':' } },
  { id: 'version.answers', what: 'prints a page', parts: { version: 'echo 1.0.0; echo more' } },
  {
    id: 'version.matches',
    what: 'has two versions',
    parts: { version: 'echo 2.0.0' },
    ...onlyWarned('version.matches'),
  },
  {
    id: 'run.ends',
    what: 'never ends',
    parts: { extra: 'sleep 60' },
    options: { timeoutMs: 400 },
    warned: ['run.result'],
  },
  {
    id: 'run.ends',
    what: 'fails',
    parts: {
      status: 'failure',
      write: `sed 's/_code":0/_code":3/g' >"$TOOL_RUN_DIR/result.json"`,
      end: `echo 'no luck' >&2; exit 3`,
    },
    failed: [],
    warned: ['run.ends'],
  },
  { id: 'run.result', what: 'is no JSON', parts: { write: 'echo done >"$TOOL_RUN_DIR/result.json"; cat >/dev/null' } },
  {
    id: 'run.result',
    what: 'is a link',
    parts: { write: 'ln -s outputs/report.txt "$TOOL_RUN_DIR/result.json"; cat >/dev/null' },
  },
  { id: 'run.result', what: 'has an impossible time', parts: { startedAt: '2026-02-30T00:00:00Z' } },
  { id: 'run.result', what: 'is not written', parts: { write: 'cat >/dev/null' }, ...onlyWarned('run.result') },
  { id: 'run.facts', what: 'is about another run', parts: { runId: '2001-01-01T00-00-00-000000Z-000000' } },
  { id: 'run.times', what: 'has a start of its own', parts: { startedAt: '2001-01-01T00:00:00Z' } },
  { id: 'run.status', what: 'calls a success partial', parts: { status: 'partial' } },
  {
    id: 'run.outputs',
    what: 'lists a file that is not there',
    parts: { outputs: '{"path":"outputs/other.txt","media_type":"text/plain"}' },
  },
  {
    id: 'run.outputs',
    what: 'lists a file outside',
    parts: { outputs: '{"path":"../../report.txt","media_type":"text/plain"}' },
  },
  {
    id: 'run.outputs',
    what: 'has the digest of something else',
    parts: { outputs: `{"path":"outputs/report.txt","media_type":"text/plain","digest":"sha256:${'0'.repeat(64)}"}` },
  },
  {
    id: 'run.outputs',
    what: 'counts wrong',
    parts: { outputs: '{"path":"outputs/report.txt","media_type":"text/plain","bytes":8}' },
  },
  { id: 'run.files', what: 'leaves a draft', parts: { extra: 'echo draft >"$TOOL_RUN_DIR/draft.txt"' } },
  { id: 'run.stdout', what: 'chats on stdout', parts: { extra: 'echo working' }, ...onlyWarned('run.stdout') },
  { id: 'input.inputs', what: 'does not look at them', parts: { inputs: '' } },
  {
    id: 'input.inputs',
    what: 'refuses without a word',
    parts: { inputs: GOOD.inputs.replace(`echo 'bad inputs' >&2; `, '') },
  },
  { id: 'input.config', what: 'does not look at it', parts: { config: '' } },
  {
    id: 'environment.run_dir_unset',
    what: 'writes where it stands',
    parts: { folder: `TOOL_RUN_DIR=\${TOOL_RUN_DIR-$PWD}\n${GOOD.folder}` },
  },
  {
    id: 'environment.run_dir_missing',
    what: 'makes it',
    parts: { folder: `[ -n "\${TOOL_RUN_DIR-}" ] || { echo 'bad run folder' >&2; exit 2; }; mkdir -p "$TOOL_RUN_DIR"` },
  },
  {
    id: 'environment.run_dir_read_only',
    what: 'does not notice',
    parts: { work: GOOD.work.replace('outputs"', 'outputs" || exit 0') },
  },
  { id: 'environment.protocol_version', what: 'does not look at it', parts: { protocol: '' } },
  {
    id: 'arguments.unknown',
    what: 'waits for ever',
    parts: { words: GOOD.words.replace('exit 2', 'sleep 60') },
    options: { timeoutMs: 4000 },
  },
  { id: 'arguments.unknown', what: 'does not mind', parts: { words: '' }, ...onlyWarned('arguments.unknown') },
  { id: 'stdin.closed', what: 'reads standard input', parts: { extra: 'cat >/dev/null' } },
  {
    id: 'signal.term',
    what: 'does not listen',
    parts: { extra: `trap '' TERM; for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13; do sleep 0.2; done` },
  },
  { id: 'process.left', what: 'leaves one in its group', parts: { extra: 'sleep 60 >/dev/null 2>&1 &' } },
  {
    id: 'process.left',
    what: 'leaves one in a session of its own',
    parts: { extra: 'setsid sleep 60 >/dev/null 2>&1 &' },
  },
  { id: 'process.left', what: 'leaves one that holds its output open', parts: { extra: 'sleep 60 &' } },
  {
    id: 'exit_codes.range',
    what: 'uses a code of the wrapper',
    parts: { inputs: GOOD.inputs.replace('exit 2', 'exit 12') },
  },
  {
    id: 'writes.project',
    what: 'leaves a mark in the project',
    parts: { extra: 'echo seen >>"$TOOL_PROJECT_ROOT/README.md"' },
  },
  { id: 'writes.home', what: 'leaves a mark at home', parts: { extra: 'mkdir -p "$HOME/.sample"' } },
  { id: 'secrets.shown', what: 'prints its environment', parts: { extra: 'env >&2' } },
  { id: 'secrets.shown', what: 'keeps its environment', parts: { extra: 'env >"$TOOL_RUN_DIR/outputs/env.txt"' } },
];

function processesNaming(text: string): string {
  return spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line.includes(text))
    .join('\n');
}

describe('checkTool on tools without a fault', () => {
  test('a tool in shell passes every check there is [S4-34 S4-35]', async () => {
    const report = await check([plantTool()]);
    assert.deepEqual(
      report.checks.filter(({ status }) => status !== 'pass'),
      [],
    );
    assert.deepEqual(report.checks.map(({ id }) => id).sort(), Object.keys(CHECKS).sort());
    assert.deepEqual([report.name, report.version, report.passed], ['sample', '1.0.0', Object.keys(CHECKS).length]);
    assert.deepEqual(readdirSync(join(scratch, 'tmp')), []);
  });

  test('the example in shell passes, with and without words of its own', async () => {
    for (const words of [[], ['README.md', 'notes/first.txt']]) {
      const report = await check([join(EXAMPLES, 'line-count.sh'), ...words]);
      assert.deepEqual(
        report.checks.filter(({ status }) => status !== 'pass'),
        [],
      );
    }
  });

  test('the example with the kit passes where it stands (deep)', async () => {
    const interpreter = [process.execPath, '-C', 'tool-runtime-source'];
    const report = await check([join(EXAMPLES, 'word-report.ts')], {
      interpreter,
      inputs: { top: 3, folder: 'notes' },
    });
    assert.deepEqual(
      report.checks.filter(({ status }) => status !== 'pass'),
      [],
    );
  });

  test('the kit can be copied beside a tool, which then passes in both profiles (deep)', async () => {
    const folder = mkdtempSync(join(scratch, 'copied-'));
    cpSync(join(SOURCE, 'tool-kit'), join(folder, 'tool-kit'), { recursive: true });
    cpSync(join(SOURCE, 'tool-kit.ts'), join(folder, 'tool-kit.ts'));
    const source = readFileSync(join(EXAMPLES, 'word-report.ts'), 'utf8');
    writeFileSync(join(folder, 'word-report.ts'), source.replace('@tool-runtime/sdk/tool-kit', './tool-kit.ts'));
    for (const profile of ['neutral', 'epack'] as const) {
      const report = await check([join(folder, 'word-report.ts')], { profile, interpreter: [process.execPath] });
      assert.deepEqual(
        report.checks.filter(({ status }) => status !== 'pass'),
        [],
      );
      assert.equal(idsWith(report, 'pass').includes('input.inputs'), profile === 'neutral');
    }
  });

  test('a tool that needs a pack gets one, as variable and first word [S4-33]', async () => {
    const needing = GOOD.capabilities.replace('"requires_pack":false', '"requires_pack":true');
    const extra = `[ "$1" = "$TOOL_PACK_PATH" ] && [ "sha256:$(sha256sum "$1" | cut -c 1-64)" = "$TOOL_PACK_DIGEST" ] || { echo 'bad pack' >&2; exit 2; }`;
    const pack = join(scratch, 'own.pack');
    writeFileSync(pack, 'own');
    for (const options of [{}, { pack }]) {
      const report = await check([plantTool({ capabilities: needing, extra })], options);
      assert.deepEqual(
        report.checks.filter(({ status }) => status !== 'pass'),
        [],
      );
    }
    const without = await check([plantTool({ extra: `: "\${1?}"` })]);
    assert.deepEqual(idsWith(without, 'warn').includes('run.ends'), true);
  });
});

describe('checkTool on tools with one fault (deep)', () => {
  for (const { id, what, parts, options, failed = [id], warned = [] } of BAD_TOOLS) {
    test(`finds ${id} in a tool that ${what}, and nothing else`, async () => {
      const file = plantTool(parts);
      const report = await check([file], options);
      assert.deepEqual({ failed: idsWith(report, 'fail'), warned: idsWith(report, 'warn') }, { failed, warned });
      for (const found of report.checks) assert.equal(found.next === '', found.status === 'pass', found.id);
      assert.deepEqual(readdirSync(join(scratch, 'tmp')), []);
      assert.equal(processesNaming(file), '');
    });
  }

  test('every check is failed or warned of by one of them', () => {
    const covered = new Set(BAD_TOOLS.map(({ id }) => id));
    assert.deepEqual(
      Object.keys(CHECKS).filter((id) => !covered.has(id as CheckId)),
      [],
    );
  });
});

describe('checkTool itself', () => {
  test('takes a path relative to where it is called', async () => {
    const report = await check([relative(process.cwd(), plantTool())]);
    assert.equal(report.failed, 0);
  });

  test('refuses a program that is not there or cannot be run, and an interpreter that is not there', async () => {
    const plain = plantTool();
    chmodSync(plain, 0o644);
    const cases: readonly (readonly [readonly string[], readonly string[], string])[] = [
      [[join(scratch, 'nothing')], [], 'not_found'],
      [['no-such-program-anywhere'], [], 'not_found'],
      [[plain], [], 'not_accessible'],
      [[plain], ['no-such-interpreter'], 'not_found'],
    ];
    for (const [command, interpreter, reason] of cases) {
      await assert.rejects(
        check(command, { interpreter }),
        (thrown) => isToolError(thrown) && thrown.details['reason'] === reason,
      );
    }
    assert.equal((await check([plain], { interpreter: ['sh'] })).failed, 0);
    assert.deepEqual(readdirSync(join(scratch, 'tmp')), []);
  });

  test('stops when it is cancelled, with everything it started', async () => {
    const started = join(scratch, 'started');
    const file = plantTool({ extra: `echo now >${started}; sleep 60` });
    const controller = new AbortController();
    const checked = check([file], { signal: controller.signal, timeoutMs: 60_000 });
    const watch = setInterval(() => {
      if (readdirSync(scratch).includes('started')) controller.abort();
    }, 20);
    await assert.rejects(checked, (thrown) => isToolError(thrown) && thrown.details['reason'] === 'cancelled');
    clearInterval(watch);
    assert.deepEqual([processesNaming(file), readdirSync(join(scratch, 'tmp'))], ['', []]);
  });
});
