/** The wrapper with real programs in the real sandbox, through a runtime. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { openExternalScene, type Scene } from '../../../test/external-scene.ts';
import type { RunResult } from '../../contracts/external.ts';

const SECRET = 'hunter2-"quoted"-value';
process.env['SCAN_TOKEN'] = SECRET;
process.env['UNLISTED_TOKEN'] = 'must-not-arrive';
process.env['TOOL_IDENTITY'] = '{"actor":"ann","actor_type":"user"}';
process.env['HTTPS_PROXY'] = 'http://user:pass@proxy.test:8080';
delete process.env['CI'];

interface Answer {
  readonly run_id: string;
  readonly run_dir: string;
  readonly status: string;
  readonly exit_code: number;
  readonly tool_exit_code: number | null;
  readonly outputs: readonly { path: string; digest: string; bytes: number; media_type: string; artifact?: string }[];
  readonly errors: readonly { code: string; message: string; path?: string }[];
  readonly warnings: readonly { code: string; message: string; path?: string }[];
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly stdout_artifact?: string;
  readonly stderr_artifact?: string;
  readonly run_digest: string;
}

let scene: Scene;

before(async () => {
  scene = await openExternalScene({
    tools: [
      'name: plain',
      'name: writer, writable: true',
      'name: secretive, secrets: [SCAN_TOKEN]',
      'name: configured, config: {depth: 3}',
      'name: epacked, profile: epack',
      'name: typed, args_schema: {type: object, required: [url], properties: {url: {type: string}}}',
      'name: slow, timeout_ms: 1500',
    ],
  });
});

after(() => scene.dispose());

async function call(tool: string, work: string, more: JsonObject = {}): Promise<ToolResponse> {
  return scene.session.call(tool, { args: [work], ...more });
}

async function run(tool: string, work: string, more: JsonObject = {}): Promise<Answer> {
  const response = await call(tool, work, more);
  assert.equal(response.ok, true, JSON.stringify(response.errors));
  return response.data as unknown as Answer;
}

async function fail(tool: string, work: string, more: JsonObject = {}) {
  const response = await call(tool, work, more);
  assert.equal(response.ok, false);
  const [error] = response.errors;
  assert.ok(error?.details !== undefined);
  return { error, details: error.details as JsonObject & Answer, response };
}

function resultOf({ run_dir }: { readonly run_dir: string }): RunResult & JsonObject {
  return JSON.parse(readFileSync(join(scene.state, run_dir, 'result.json'), 'utf8'));
}

describe('a run of an external tool', () => {
  test('ends in an answer, a result and the journal [S4-50 S4-32 S4-26]', async () => {
    const work =
      'mkdir outputs; echo hi > outputs/a.txt; result \'[{"path":"outputs/a.txt","media_type":"text/plain"}]\'';
    const answer = await run('plain', `${work}; echo done`);
    assert.deepEqual(
      [answer.status, answer.exit_code, answer.tool_exit_code, answer.stdout, answer.errors, answer.warnings],
      ['success', 0, 0, 'done\n', [], []],
    );
    const result = resultOf(answer);
    assert.equal(result.run_digest, answer.run_digest);
    assert.deepEqual(result.identity, { actor: 'ann', actor_type: 'user' });
    assert.equal(result.run_context?.runner_os, 'linux');
    assert.deepEqual(result.tool, { name: 'plain', version: '1.2.3', protocol_version: 1 });
    assert.equal(result['extra'], 'kept');
    const callId = String((result['call'] as JsonObject)['call_id']);
    const mine = [...scene.runtime.records()].filter((stored) => JSON.stringify(stored).includes(callId));
    assert.deepEqual(
      mine.map(({ kind }) => kind),
      ['requested', 'decision', 'intent', 'result'],
    );
  });

  test('keeps outputs as artifacts that can be read [S4-41 S4-21]', async () => {
    const outputs = '[{"path":"a.txt","media_type":"text/plain"},{"path":"d/b.bin","media_type":"x/y"}]';
    const answer = await run('plain', `echo hi > a.txt; mkdir d; printf '\\377' > d/b.bin; result '${outputs}'`);
    const [first] = answer.outputs;
    assert.equal(answer.outputs.length, 2);
    const read = await scene.session.call('artifact_read', { artifact: first?.artifact ?? '' });
    assert.match(JSON.stringify(read.data), /hi\\n/);
  });

  test('starts in its run folder and may write there [S4-45]', async () => {
    const answer = await run('plain', 'pwd; echo x > here; result');
    assert.equal(answer.stdout.trim(), join(scene.state, answer.run_dir));
    assert.ok(existsSync(join(scene.state, answer.run_dir, 'here')));
  });

  test('finds its config in a file that is gone afterwards [S4-45]', async () => {
    const answer = await run('configured', 'echo $TOOL_CONFIG; cat $TOOL_CONFIG; echo x >> $TOOL_CONFIG; result');
    const [path = '', text = ''] = answer.stdout.split('\n');
    assert.deepEqual(JSON.parse(text), { depth: 3 });
    assert.match(answer.stderr, /Read-only|Permission denied/);
    assert.equal(existsSync(path), false);
    assert.deepEqual(readdirSync(join(scene.state, 'external', 'exec')), []);
  });

  test('has no config variable without a config [S4-45]', async () => {
    assert.equal((await run('plain', 'echo "[$TOOL_CONFIG]"; result')).stdout, '[]\n');
  });

  test('sees a restricted environment with the names of its profile [S4-44]', async () => {
    const lines = (await run('plain', 'env; result')).stdout.trim().split('\n');
    const names = lines
      .map((line) => line.split('=')[0] ?? '')
      .filter((name) => name !== '_' && name !== 'PWD')
      .sort();
    assert.deepEqual(names, [
      'HOME',
      'LANG',
      'PATH',
      'TERM',
      'TMPDIR',
      'TOOL_IDENTITY',
      'TOOL_JSON',
      'TOOL_NAME',
      'TOOL_PROJECT_ROOT',
      'TOOL_PROTOCOL_VERSION',
      'TOOL_RUN_DIR',
      'TOOL_RUN_ID',
      'TOOL_STARTED_AT',
      'TOOL_WRAPPER_VERSION',
    ]);
    assert.ok(lines.includes('PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'));
  });

  test('is told the same under the names of epack [S4-44]', async () => {
    const { stdout } = await run('epacked', 'env');
    assert.match(stdout, /^EPACK_TOOL_NAME=epacked$/m);
    assert.match(stdout, /^EPACK_RUN_ID=\d{4}-/m);
    assert.doesNotMatch(stdout, /^TOOL_/m);
  });

  test('gets the inputs that fit its schema, and no others [S4-44]', async () => {
    const answer = await run('typed', 'echo "$TOOL_INPUTS"; cat $TOOL_INPUTS_FILE; result', { inputs: { url: 'x' } });
    assert.equal(answer.stdout, '{"url":"x"}\n{"url":"x"}');
    const refused = await call('typed', 'true', { inputs: {} });
    assert.deepEqual([refused.ok, refused.errors[0]?.code], [false, 'E_VALIDATION_FAIL']);
    const undeclared = await call('plain', 'true', { inputs: { url: 'x' } });
    assert.equal(undeclared.errors[0]?.code, 'E_VALIDATION_FAIL');
  });

  test('gets long inputs by file [S4-44]', async () => {
    const url = 'u'.repeat(40_000);
    const answer = await run('typed', 'echo "[$TOOL_INPUTS]"; wc -c < $TOOL_INPUTS_FILE; result', { inputs: { url } });
    assert.equal(answer.stdout, `[]\n${JSON.stringify({ url }).length}\n`);
  });

  test('announces progress by lines, which are no output [S4-48]', async () => {
    const heard: { pct: number; message: string }[] = [];
    const stop = scene.runtime.events.listen(scene.session.id, ({ message }) => {
      if (message.event === 'TaskProgress' && message.progress !== undefined) heard.push({ ...message.progress });
    });
    const line = (kind: string, rest: string) =>
      `echo '{"type":"tool_progress","protocol_version":1,"kind":"${kind}",${rest}}'`;
    const work = [
      'echo before',
      line('status', '"message":"thinking"'),
      line('progress', '"current":1,"total":4,"message":"one"'),
      `echo '{"type":"epack_progress","protocol_version":1,"kind":"progress","current":3,"total":4,"message":"three"}'`,
      `echo '{"type":"tool_progress","protocol_version":2,"kind":"status","message":"of another protocol"}'`,
      'echo after',
      'result',
    ];
    const answer = await run('plain', work.join('; '));
    stop();
    assert.deepEqual(
      heard.map(({ pct, message }) => `${pct} ${message}`),
      ['0 thinking', '25 one', '75 three'],
    );
    assert.match(answer.stdout, /^before\n\{.*another protocol.*\}\nafter\n$/);
  });

  test('passes exit codes 1 to 9 through and keeps others in tool_exit_code [S4-43 S4-27]', async () => {
    const soft = await fail('plain', 'result; exit 3');
    assert.deepEqual([soft.error.code, soft.details.exit_code, soft.details.tool_exit_code], ['E_SHELL', 3, 3]);
    const reserved = await fail('plain', 'result; exit 11');
    assert.deepEqual([reserved.details.exit_code, reserved.details.tool_exit_code], [1, 11]);
    assert.equal(resultOf(reserved.details).status, 'failure');
  });

  test('fails when it reports errors, whatever it exits with [S4-43]', async () => {
    const { error, details } = await fail('plain', `result '[]' '[{"code":"BAD","message":"no good"}]'`);
    assert.match(error.message, /no good/);
    assert.deepEqual([details.exit_code, details.status], [0, 'failure']);
  });

  test('sees the workspace read-only unless the operator says otherwise [S4-45]', async () => {
    writeFileSync(join(scene.workspace, 'seen.txt'), 'seen');
    const work = 'cd $TOOL_PROJECT_ROOT && cat seen.txt && echo x > written.txt; echo $?; result';
    const reading = await run('plain', work);
    assert.match(reading.stdout, /^seen[12]/);
    assert.equal(existsSync(join(scene.workspace, 'written.txt')), false);
    await run('writer', work);
    assert.equal(existsSync(join(scene.workspace, 'written.txt')), true);
  });
});

describe('a result that cannot be believed', () => {
  const rows: readonly [string, string, string, boolean][] = [
    ['none', 'true', 'RESULT_MISSING', false],
    ['malformed', 'echo "{" > result.json', 'RESULT_INVALID', true],
    ['without what is required', 'echo "{}" > result.json', 'RESULT_INVALID', true],
    [
      'with a doubled key',
      `result; sed -i 's/"extra"/"st\\\\u0061tus":"success","extra"/' result.json`,
      'RESULT_INVALID',
      true,
    ],
    ['too large', 'head -c 11000000 /dev/zero > result.json', 'RESULT_INVALID', true],
    ['that is a link', 'ln -s /etc/passwd result.json', 'RESULT_INVALID', true],
    ['that is a pipe', 'mkfifo result.json', 'RESULT_INVALID', true],
    ['that is a folder', 'mkdir result.json', 'RESULT_INVALID', true],
    ['of another run', "result '[]' '[]' 2020-01-01T00-00-00-000000Z-000000", 'RESULT_INVALID', true],
  ];
  for (const [name, work, code, isKept] of rows) {
    test(`${name} is replaced, kept and on record [S4-40]`, async () => {
      const response = await call('plain', work);
      assert.equal(response.ok, true, JSON.stringify(response.errors));
      const answer = response.data as unknown as Answer;
      const result = resultOf(answer);
      assert.equal(result.status, 'partial');
      assert.deepEqual(
        result.warnings.map((warning) => warning.code),
        [code],
      );
      assert.deepEqual(result['audit'], ['result_backfilled']);
      assert.ok(response.warnings?.some(({ details }) => details?.['reason'] === 'result_backfilled'));
      const names = readdirSync(join(scene.state, answer.run_dir));
      assert.equal(names.includes('result.json.tool'), isKept);
    });
  }

  test('without one the files below outputs/ are the outputs, and links are dropped [S4-40]', async () => {
    const work = 'mkdir -p outputs/deep; echo hi > outputs/deep/a.txt; echo b > outputs/b; ln -s /etc/passwd outputs/c';
    const answer = await run('plain', work);
    assert.deepEqual(
      answer.outputs.map(({ path, bytes, media_type }) => [path, bytes, media_type]),
      [
        ['outputs/b', 2, 'application/octet-stream'],
        ['outputs/deep/a.txt', 3, 'application/octet-stream'],
      ],
    );
    assert.ok(answer.outputs.every(({ artifact }) => artifact?.startsWith('artifact:')));
    assert.deepEqual(
      resultOf(answer).warnings.map(({ code, path }) => [code, path]),
      [
        ['RESULT_MISSING', undefined],
        ['INVALID_OUTPUT_PATH', 'outputs/c'],
      ],
    );
    const { details } = await fail('plain', 'mkdir outputs; echo log > outputs/log; exit 3');
    assert.deepEqual(
      details.outputs.map(({ path }) => path),
      ['outputs/log'],
    );
  });

  test('lies about how it ended are corrected, and what else it said is kept [S4-41]', async () => {
    const { details } = await fail('plain', `result '[]' '[]' '' success; exit 4`);
    const result = resultOf(details);
    assert.deepEqual(
      [result.status, result.exit_code, result.tool_exit_code, result['extra']],
      ['failure', 4, 4, 'kept'],
    );
    const lying = await run('plain', `result '[]' '[]' '' failure`);
    assert.equal(lying.status, 'success');
  });

  test('outputs outside the run folder, links and what is not there are dropped [S4-41]', async () => {
    const outputs = ['/etc/passwd', '../x', 'link', 'dir/../../x', 'missing', 'folder', 'pipe', 'C:\\\\x', 'good.txt'];
    const list = outputs.map((path) => `{"path":"${path}","media_type":"text/plain"}`).join(',');
    const answer = await run(
      'plain',
      `ln -s /etc/passwd link; mkdir folder dir; mkfifo pipe; echo ok > good.txt; result '[${list}]'`,
    );
    assert.equal(answer.status, 'partial');
    assert.deepEqual(
      answer.outputs.map(({ path }) => path),
      ['good.txt'],
    );
    assert.deepEqual(new Set(answer.warnings.map(({ code }) => code)), new Set(['INVALID_OUTPUT_PATH']));
    assert.equal(answer.warnings.length, outputs.length - 1);
    assert.deepEqual(resultOf(answer).outputs.length, 1);
  });
});

describe('a tool that means harm', () => {
  test('cannot bring out the secrets it was given [S4-44]', async () => {
    const heard: string[] = [];
    const stop = scene.runtime.events.listen(scene.session.id, (event) => heard.push(JSON.stringify(event)));
    const escaped = [...SECRET].map((letter) => `\\\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    const work = [
      'echo "token $SCAN_TOKEN"',
      'echo "$SCAN_TOKEN" >&2',
      'q=$(printf %s "$SCAN_TOKEN" | sed \'s/"/\\\\"/g\')',
      'echo "{\\"type\\":\\"tool_progress\\",\\"protocol_version\\":1,\\"kind\\":\\"status\\",\\"message\\":\\"$q\\"}"',
      'printf %s "$SCAN_TOKEN" > out.txt',
      `result '[{"path":"out.txt","media_type":"text/plain"}]'`,
      `sed -i 's|"extra":"kept"|"extra":"${escaped}"|' result.json`,
      'exit 2',
    ];
    const { response, details } = await fail('secretive', work.join('; '));
    stop();
    assert.match(details.stdout, /token \[redacted\]/);
    const shown = [JSON.stringify(response), JSON.stringify(resultOf(details)), ...heard].join('\n');
    const records = JSON.stringify([...scene.runtime.records()]);
    for (const text of [shown, records]) {
      assert.equal(
        text.includes('hunter2'),
        false,
        text.slice(Math.max(0, text.indexOf('hunter2') - 200)).slice(0, 400),
      );
    }
    assert.ok(heard.some((text) => text.includes('[redacted]')));
    assert.equal(resultOf(details)['extra'], '[redacted]');
    assert.equal(details.outputs[0]?.artifact, undefined);
    const kept = join(scene.state, details.run_dir, 'result.json.tool');
    assert.equal(readFileSync(kept, 'utf8').includes('hunter2'), false);
  });

  test('gets listed variables and no others [S4-44]', async () => {
    const answer = await run('secretive', '[ -n "$SCAN_TOKEN" ] && echo has; env | grep -c UNLISTED; result');
    assert.equal(answer.stdout, 'has\n0\n');
  });

  test('reaches no network it was not given [S4-49]', async () => {
    const answer = await run('plain', 'cat /proc/net/dev | grep -vc "lo:\\|face\\|Inter"; result');
    assert.equal(answer.stdout.trim(), '0');
  });

  test('changes nothing but its own copy, which it cannot [S4-46]', async () => {
    const script = join(scene.operator, 'tool.sh');
    const before = readFileSync(script, 'utf8');
    const answer = await run(
      'plain',
      `chmod 700 "$0"; echo evil >> "$0"; ls ${scene.operator}; echo x > ${scene.operator}/x; result`,
    );
    assert.match(answer.stderr, /Read-only file system/);
    assert.match(answer.stderr, /No such file or directory|cannot access/);
    assert.equal(readFileSync(script, 'utf8'), before);
    assert.equal(existsSync(join(scene.operator, 'x')), false);
    assert.equal((await run('plain', 'echo again; result')).stdout, 'again\n');
  });

  test('sees of the state folder its run and its copy, nothing else', async () => {
    await run('plain', 'echo private > canary; result');
    const answer = await run('plain', `find ${scene.state} -type f; result`);
    const files = answer.stdout
      .trim()
      .split('\n')
      .map((path) => path.replace(scene.state, ''));
    assert.ok(
      files.every((path) => path.startsWith('/external/exec/') && path.endsWith('/tool.sh')),
      files.join('\n'),
    );
    assert.equal(files.length, 1);
  });

  test('may print without end: the middle is left out, memory is not [S4-48]', async () => {
    const used = process.memoryUsage.rss();
    const answer = await run('plain', 'head -c 100000000 /dev/zero | tr "\\\\0" x; echo; echo end; result');
    assert.equal(answer.truncated, true);
    assert.match(answer.stdout, /lines left out[\s\S]*end\n$/);
    assert.ok(answer.stdout.length < 6 * 1024 * 1024);
    assert.match(answer.stdout_artifact ?? '', /^artifact:/);
    assert.equal(answer.stderr_artifact, undefined);
    assert.ok(process.memoryUsage.rss() - used < 300 * 1024 * 1024);
  });

  test('is ended at its limit with everything it started, and that is on record [S4-47] (deep)', async () => {
    const { error, details } = await fail('slow', '(setsid sleep 987654 &) ; sleep 987654');
    assert.equal(error.code, 'E_TIMEOUT');
    const result = resultOf(details);
    assert.deepEqual(
      [result.status, result.exit_code, result.tool_exit_code, result.errors[0]?.code],
      ['failure', 1, 137, 'COMPONENT_KILLED'],
    );
    assert.deepEqual(sleepers(), []);
  });

  test('is ended when the call is cancelled [S4-47]', async () => {
    const controller = new AbortController();
    const pending = scene.session.call(
      'plain',
      { args: ['touch started; sleep 987654'] },
      { signal: controller.signal },
    );
    const runs = join(scene.state, 'external', 'runs', 'plain');
    while (!readdirSync(runs, { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('/started'))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    controller.abort();
    const response = await pending;
    assert.equal(response.ok, false);
    const details = response.errors[0]?.details as JsonObject & Answer;
    assert.equal(resultOf(details).errors[0]?.code, 'COMPONENT_KILLED');
    assert.deepEqual(sleepers(), []);
  });

  test('leaves nothing running when it ends by itself [S4-47]', async () => {
    await run('plain', 'setsid sleep 987654 > /dev/null 2>&1 & result');
    assert.deepEqual(sleepers(), []);
  });

  test('takes away our access to its folder in vain [S4-40]', async () => {
    const answer = await run('plain', 'result; chmod 000 result.json; chmod 000 .');
    assert.equal(existsSync(join(scene.state, answer.run_dir, 'result.json')), true);
  });
});

function sleepers(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep\u0000987654');
      } catch {
        return false;
      }
    });
}

describe('path rules', () => {
  test('a pack is judged by what it leads to', async () => {
    const ruled = await openExternalScene({
      tools: ['name: needs-pack'],
      registry: ["arg_constraints: [{ tool: needs-pack, arg_patterns: ['packs/**'] }]"],
    });
    try {
      for (const folder of ['packs/sub', 'other']) {
        mkdirSync(join(ruled.workspace, folder), { recursive: true });
        writeFileSync(join(ruled.workspace, folder, 'a.pack'), 'packed');
      }
      symlinkSync('../other', join(ruled.workspace, 'packs/link'));
      symlinkSync('sub', join(ruled.workspace, 'packs/inner'));
      for (const pack of ['packs/link/a.pack', 'other/a.pack', 'packs/inner/../link/a.pack']) {
        const { errors } = await ruled.session.call('needs-pack', { pack, args: ['result'] });
        assert.equal(errors[0]?.details?.['reason'], 'arg_constraint', pack);
      }
      const { errors } = await ruled.session.call('needs-pack', { pack: 'packs/inner/a.pack', args: ['result'] });
      assert.deepEqual(errors, []);
    } finally {
      await ruled.dispose();
    }
  });
});
