import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parseResult, validateResult } from '../external/protocol/read-result.ts';

const KIT = pathToFileURL(join(import.meta.dirname, '../tool-kit.ts')).href;
const STARTED_AT = '2026-01-31T12:00:00Z';
const RUN_ID = '2026-01-31T12-00-00-000001Z-000000';

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-kit-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly runDir: string;
}

interface Start {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Sent as soon as the tool has written its first line. */
  readonly signal?: NodeJS.Signals;
}

/** A tool called `sample` whose `run` has this body. */
function plantTool(body: string, fields = ''): string {
  const file = join(mkdtempSync(join(scratch, 'tool-')), 'sample.ts');
  const source = `import { runTool, ToolFailure } from '${KIT}';
await runTool({ name: 'sample', version: '1.2.3', ${fields} async run(context) { ${body} } });
`;
  writeFileSync(file, source);
  return file;
}

function neutralEnvironment(runDir: string): Record<string, string> {
  return {
    TOOL_RUN_ID: RUN_ID,
    TOOL_RUN_DIR: runDir,
    TOOL_STARTED_AT: STARTED_AT,
    TOOL_NAME: 'sample',
    TOOL_PROTOCOL_VERSION: '1',
    TOOL_WRAPPER_VERSION: '0.1.0',
  };
}

async function start(tool: string, { args = [], env = {}, signal }: Start = {}): Promise<Ended> {
  const runDir = mkdtempSync(join(scratch, 'run-'));
  const merged: Record<string, string | undefined> = { ...neutralEnvironment(runDir), ...env };
  const defined = Object.entries(merged).filter(([, value]) => value !== undefined);
  const child = spawn(process.execPath, [tool, ...args], { env: Object.fromEntries(defined), cwd: runDir });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    if (texts.stdout === '' && signal !== undefined) child.kill(signal);
    texts.stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    texts.stderr += chunk.toString('utf8');
  });
  return { code: await ended, ...texts, runDir };
}

function resultOf({ runDir }: Ended): Record<string, unknown> {
  const parsed = parseResult(readFileSync(join(runDir, 'result.json')));
  validateResult(parsed);
  return parsed;
}

describe('the kit for external tools', () => {
  test('answers --capabilities without a run, with requires_pack said [S4-33]', async () => {
    const fields = `description: 'Samples', network: true, requiresTools: ['index'], requiresOutputs: ['index/outputs/a'],`;
    const tool = plantTool('', fields);
    const env = { TOOL_RUN_ID: undefined, TOOL_RUN_DIR: undefined, TOOL_MODE: 'capabilities' };
    const ended = await start(tool, { args: ['--capabilities'], env });
    assert.deepEqual([ended.code, ended.stderr], [0, '']);
    assert.deepEqual(JSON.parse(ended.stdout), {
      name: 'sample',
      version: '1.2.3',
      protocol_version: 1,
      description: 'Samples',
      requires_pack: false,
      network: true,
      requires_tools: ['index'],
      requires_outputs: ['index/outputs/a'],
    });
    assert.deepEqual(readdirSync(ended.runDir), []);
    const version = await start(tool, { args: ['--version'], env });
    assert.deepEqual([version.code, version.stdout], [0, '1.2.3\n']);
  });

  test('writes every field of a result, with outputs, digests and sizes [S4-15]', async () => {
    const body = `
      context.status('begin');
      context.progress(1, 2, 'half');
      const { path } = context.writeOutput('deep/report.txt', 'two words\\n', 'text/plain');
      context.writeOutput('raw.bin', new Uint8Array([0, 255]), 'application/octet-stream');
      if (path !== 'outputs/deep/report.txt') throw new TypeError(path);
      if (context.inputs.word !== 'two') throw new TypeError('inputs');`;
    const ended = await start(plantTool(body), { env: { TOOL_INPUTS: '{"word":"two"}' } });
    assert.deepEqual([ended.code, ended.stderr], [0, '']);
    const { completed_at, duration_ms, ...rest } = resultOf(ended);
    assert.match(String(completed_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.ok(Number.isInteger(duration_ms) && Number(duration_ms) > 0);
    const digest = (bytes: string | Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    assert.deepEqual(rest, {
      schema_version: 1,
      wrapper: { name: 'tool-runtime', version: '0.1.0' },
      tool: { name: 'sample', version: '1.2.3', protocol_version: 1 },
      run_id: RUN_ID,
      started_at: STARTED_AT,
      exit_code: 0,
      tool_exit_code: 0,
      status: 'success',
      inputs: { word: 'two' },
      outputs: [
        { path: 'outputs/deep/report.txt', media_type: 'text/plain', digest: digest('two words\n'), bytes: 10 },
        {
          path: 'outputs/raw.bin',
          media_type: 'application/octet-stream',
          digest: digest(new Uint8Array([0, 255])),
          bytes: 2,
        },
      ],
      errors: [],
      warnings: [],
    });
    assert.deepEqual(readdirSync(ended.runDir), ['outputs', 'result.json']);
    assert.equal(readFileSync(join(ended.runDir, 'outputs/deep/report.txt'), 'utf8'), 'two words\n');
    const lines = ended.stdout.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      [
        { type: 'tool_progress', protocol_version: 1, kind: 'status', message: 'begin' },
        { type: 'tool_progress', protocol_version: 1, kind: 'progress', current: 1, total: 2, message: 'half' },
      ],
    );
  });

  test('speaks the epack profile when started by it, with pack, config and identity [S4-15]', async () => {
    const runDir = mkdtempSync(join(scratch, 'run-'));
    const [pack, config] = [join(scratch, 'sample.pack'), join(scratch, 'config.json')];
    writeFileSync(config, '{"depth":3}');
    const digest = `sha256:${'a'.repeat(64)}`;
    const body = `
      context.status('begin');
      const { config, args, packPath, packDigest, projectRoot, identity, json, inputs, runId } = context;
      context.writeOutput('seen.json', JSON.stringify({ config, args, packPath, packDigest, projectRoot, identity, json, inputs, runId }), 'application/json');`;
    const none = Object.fromEntries(Object.keys(neutralEnvironment('')).map((name) => [name, undefined]));
    const ended = await start(plantTool(body, 'requiresPack: true, takesArgs: true,'), {
      args: ['--fixed', pack, '--deep'],
      env: {
        ...none,
        EPACK_RUN_ID: RUN_ID,
        EPACK_RUN_DIR: runDir,
        EPACK_STARTED_AT: STARTED_AT,
        EPACK_TOOL_NAME: 'sample',
        EPACK_PROTOCOL_VERSION: '1',
        EPACK_WRAPPER_VERSION: '2.0.0',
        EPACK_PROJECT_ROOT: scratch,
        EPACK_PACK_PATH: pack,
        EPACK_PACK_DIGEST: digest,
        EPACK_TOOL_CONFIG: config,
        EPACK_IDENTITY: '{"actor":"ci"}',
        EPACK_JSON: '1',
      },
    });
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(JSON.parse(readFileSync(join(runDir, 'outputs/seen.json'), 'utf8')), {
      config: { depth: 3 },
      args: ['--fixed', '--deep'],
      packPath: pack,
      packDigest: digest,
      projectRoot: scratch,
      identity: '{"actor":"ci"}',
      json: true,
      inputs: {},
      runId: RUN_ID,
    });
    const { wrapper, pack_path, pack_digest } = resultOf({ ...ended, runDir });
    assert.deepEqual(
      { wrapper, pack_path, pack_digest },
      {
        wrapper: { name: 'epack', version: '2.0.0' },
        pack_path: pack,
        pack_digest: digest,
      },
    );
    assert.equal((JSON.parse(ended.stdout) as { type: string }).type, 'epack_progress');
  });

  test('reads inputs that are too long for a variable from the file that is named instead', async () => {
    const file = join(scratch, 'inputs.json');
    writeFileSync(file, '{"from":"file"}');
    const tool = plantTool(`context.warn('SEEN', String(context.inputs.from));`);
    const seen = async (env: Record<string, string>) => resultOf(await start(tool, { env }))['warnings'];
    assert.deepEqual(await seen({ TOOL_INPUTS_FILE: file }), [{ code: 'SEEN', message: 'file' }]);
    const both = { TOOL_INPUTS_FILE: file, TOOL_INPUTS: '{"from":"variable"}' };
    assert.deepEqual(await seen(both), [{ code: 'SEEN', message: 'variable' }]);
  });

  test('says nothing on stdout when it is to be quiet', async () => {
    const ended = await start(plantTool(`context.status('begin');`), { env: { TOOL_QUIET: '1' } });
    assert.deepEqual([ended.code, ended.stdout], [0, '']);
  });
});

describe('the kit and a broken environment', () => {
  const file = join(scratch, 'a-file');
  writeFileSync(file, '{');
  const broken: readonly (readonly [string, Record<string, string | undefined>, RegExp])[] = [
    ['no run id', { TOOL_RUN_ID: undefined }, /not set: TOOL_RUN_ID/],
    ['no run folder', { TOOL_RUN_DIR: undefined }, /not set: TOOL_RUN_DIR/],
    ['a run folder that does not exist', { TOOL_RUN_DIR: join(scratch, 'nowhere') }, /Not a folder: TOOL_RUN_DIR/],
    ['a relative run folder', { TOOL_RUN_DIR: '.' }, /not absolute: TOOL_RUN_DIR/],
    ['a file as run folder', { TOOL_RUN_DIR: file }, /Not a folder: TOOL_RUN_DIR/],
    ['a run folder nobody can write to', { TOOL_RUN_DIR: '/proc/self/fdinfo' }, /Run folder cannot be used/],
    ['another protocol version', { TOOL_PROTOCOL_VERSION: '2' }, /not supported: TOOL_PROTOCOL_VERSION/],
    ['another tool', { TOOL_NAME: 'other' }, /another name than sample: TOOL_NAME/],
    ['an impossible date', { TOOL_STARTED_AT: '2026-02-30T12:00:00Z' }, /Not a time .*: TOOL_STARTED_AT/],
    ['a date with an offset', { TOOL_STARTED_AT: '2026-02-03T12:00:00+01:00' }, /Not a time .*: TOOL_STARTED_AT/],
    ['inputs that are no JSON', { TOOL_INPUTS: '{' }, /Not a JSON object: TOOL_INPUTS/],
    ['inputs that are a list', { TOOL_INPUTS: '[]' }, /Not a JSON object: TOOL_INPUTS/],
    ['a configuration that is no JSON', { TOOL_CONFIG: file }, /no JSON object: TOOL_CONFIG/],
    ['a configuration that is not there', { TOOL_CONFIG: `${file}-not` }, /Not a file: TOOL_CONFIG/],
    ['a digest of another kind', { TOOL_PACK_DIGEST: 'md5:00' }, /Not a digest .*: TOOL_PACK_DIGEST/],
    ['a relative pack', { TOOL_PACK_PATH: 'a.pack' }, /not absolute: TOOL_PACK_PATH/],
  ];
  const tool = plantTool(`context.writeOutput('ran', '', 'text/plain');`);
  for (const [what, env, message] of broken) {
    test(`refuses ${what} with exit code 2 and runs nothing`, async () => {
      const ended = await start(tool, { env });
      assert.equal(ended.code, 2);
      assert.match(ended.stderr, message);
      assert.equal(ended.stdout, '');
      assert.ok(!readdirSync(ended.runDir).includes('result.json'));
    });
  }
  test('runs with the same environment unbroken', async () => {
    const ended = await start(tool);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(resultOf(ended)['status'], 'success');
  });
});

describe('the kit and failure', () => {
  const failing: readonly (readonly [string, string, number, string])[] = [
    ['a thrown error', `throw new TypeError('no such thing');`, 1, 'UNEXPECTED_ERROR'],
    ['a thrown text', `throw 'no such thing';`, 1, 'UNEXPECTED_ERROR'],
    [
      'a failure with a code of its own',
      `throw new ToolFailure(4, 'NO_NETWORK', 'no such thing', { host: 'a' });`,
      4,
      'NO_NETWORK',
    ],
    [
      'an error in a callback',
      `setTimeout(() => { throw new TypeError('no such thing'); }, 1); await new Promise((done) => setTimeout(done, 60_000));`,
      1,
      'UNEXPECTED_ERROR',
    ],
    [
      'a promise nobody waits for',
      `Promise.reject(new TypeError('no such thing')); await new Promise((done) => setTimeout(done, 60_000));`,
      1,
      'UNEXPECTED_ERROR',
    ],
    ['a noted error', `context.error('ODD', 'no such thing', { line: 3 });`, 1, 'ODD'],
    ['waiting for what cannot come', `await new Promise(() => {});`, 1, 'STALLED'],
    ['an exit code of the wrapper', `throw new ToolFailure(10, 'MINE', 'no such thing');`, 1, 'UNEXPECTED_ERROR'],
    ['exit code 0 as a failure', `throw new ToolFailure(0, 'MINE', 'no such thing');`, 1, 'UNEXPECTED_ERROR'],
    ['details that JSON cannot hold', `context.warn('ODD', 'odd', { number: 1n });`, 1, 'UNEXPECTED_ERROR'],
  ];
  for (const [what, body, code, entry] of failing) {
    test(`${what} ends in errors of the result [S4-22]`, async () => {
      const ended = await start(plantTool(body));
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, /^sample: ./);
      const { status, exit_code, tool_exit_code, errors } = resultOf(ended) as Record<string, never[]>;
      const codes = errors?.map((error: { code: string }) => error.code);
      assert.deepEqual([status, exit_code, tool_exit_code, codes], ['failure', code, code, [entry]]);
    });
  }

  test('a warning makes the run partial and leaves exit code 0 [S4-2]', async () => {
    const ended = await start(plantTool(`context.warn('ODD', 'odd line', { line: 3 });`));
    assert.equal(ended.code, 0);
    const { status, warnings } = resultOf(ended);
    assert.deepEqual([status, warnings], ['partial', [{ code: 'ODD', message: 'odd line', details: { line: 3 } }]]);
  });

  test('refuses arguments unless the tool takes them', async () => {
    const refused = await start(plantTool(''), { args: ['--deep'] });
    assert.deepEqual([refused.code, resultOf(refused)['status']], [2, 'failure']);
    assert.match(refused.stderr, /takes no arguments: --deep/);
    const taken = await start(plantTool(`if (context.args[0] !== '--deep') throw 1;`, 'takesArgs: true,'), {
      args: ['--deep'],
    });
    assert.equal(taken.code, 0, taken.stderr);
  });

  test('refuses to run without the pack it needs', async () => {
    const ended = await start(plantTool('', 'requiresPack: true,'));
    assert.equal(ended.code, 2);
    assert.deepEqual(resultOf(ended)['errors'], [
      { code: 'PACK_REQUIRED', message: 'The tool needs a pack and was given none' },
    ]);
  });

  test('does not start under a name no wrapper accepts', async () => {
    const file = join(scratch, 'nameless.ts');
    writeFileSync(
      file,
      `import { runTool } from '${KIT}';\nawait runTool({ name: 'a..b', version: '1', run() {} });\n`,
    );
    const ended = await start(file, { args: ['--capabilities'] });
    assert.deepEqual([ended.code, ended.stdout], [1, '']);
    assert.match(ended.stderr, /Not a name for a tool: a\.\.b/);
  });
});

describe('the kit and signals', () => {
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    test(`${name} reaches the tool as an abort and is on record [S4-47]`, async () => {
      const body = `
        context.status('ready');
        await new Promise((done) => { const kept = setInterval(() => {}, 1000); context.signal.addEventListener('abort', () => { clearInterval(kept); done(); }); });
        context.writeOutput('tidy.txt', 'tidied', 'text/plain');`;
      const ended = await start(plantTool(body), { signal: name });
      assert.equal(ended.code, 1);
      const { status, errors, outputs } = resultOf(ended) as Record<string, never[]>;
      assert.deepEqual(
        [status, errors?.map((error: { code: string }) => error.code), outputs?.length],
        ['failure', ['INTERRUPTED'], 1],
      );
    });
  }

  test('ends a tool that does not listen, with a result [S4-47] (deep)', async () => {
    const body = `context.status('ready'); await new Promise((done) => setTimeout(done, 60_000));`;
    const ended = await start(plantTool(body), { signal: 'SIGTERM' });
    assert.equal(ended.code, 1);
    assert.deepEqual(resultOf(ended)['errors'], [
      { code: 'INTERRUPTED', message: 'Ended by SIGTERM before it was done' },
    ]);
  });

  test('names the signal when a cancelled operation throws [S4-47]', async () => {
    const body = `context.status('ready');
      const { setTimeout } = await import('node:timers/promises');
      await setTimeout(60_000, undefined, { signal: context.signal });`;
    const ended = await start(plantTool(body), { signal: 'SIGTERM' });
    const { errors } = resultOf(ended) as Record<string, never[]>;
    assert.deepEqual(
      errors?.map((error: { code: string }) => error.code),
      ['INTERRUPTED'],
    );
  });
});

describe('writeOutput', () => {
  const paths = ['', '/etc/x', '../x', 'a/../x', './x', 'a//x', 'a\\x', 'C:x', 'a\u0000', 'a/'];
  for (const path of paths) {
    test(`refuses ${JSON.stringify(path)} [S4-13]`, async () => {
      const ended = await start(plantTool(`context.writeOutput(${JSON.stringify(path)}, 'x', 'text/plain');`));
      assert.equal(ended.code, 1);
      assert.deepEqual([resultOf(ended)['outputs'], readdirSync(join(ended.runDir, 'outputs'))], [[], []]);
    });
  }

  test('follows no link, neither as folder nor as file, and writes no file twice [S4-13] (deep)', async () => {
    const outside = join(scratch, 'outside');
    mkdirSync(outside);
    const body = (path: string) => `
      const { symlinkSync } = await import('node:fs');
      symlinkSync(${JSON.stringify(outside)}, 'outputs/folder');
      symlinkSync(${JSON.stringify(join(outside, 'file'))}, 'outputs/file');
      context.writeOutput('once', 'x', 'text/plain');
      context.writeOutput(${JSON.stringify(path)}, 'x', 'text/plain');`;
    for (const path of ['folder/x', 'file', 'once']) {
      const ended = await start(plantTool(body(path)));
      assert.deepEqual([ended.code, (resultOf(ended)['outputs'] as unknown[]).length], [1, 1], path);
    }
    assert.deepEqual(readdirSync(outside), []);
    const plain = await start(plantTool(body('plain/x')));
    assert.deepEqual([plain.code, plain.stderr], [0, '']);
  });

  test('a link planted as result.json is replaced, not followed [S4-19]', async () => {
    const target = join(scratch, 'target');
    writeFileSync(target, 'kept');
    const ended = await start(
      plantTool(`(await import('node:fs')).symlinkSync(${JSON.stringify(target)}, 'result.json');`),
    );
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(readFileSync(target, 'utf8'), 'kept');
    assert.equal(resultOf(ended)['status'], 'success');
    // Twin: the link would have been followed by an ordinary write.
    const other = join(scratch, 'other-link');
    symlinkSync(target, other);
    writeFileSync(other, 'changed');
    assert.equal(readFileSync(target, 'utf8'), 'changed');
  });
});
