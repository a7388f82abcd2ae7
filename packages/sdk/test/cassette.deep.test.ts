import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { createTapeFolder, type TapedRun, type TapeFolder } from './cassette-run.ts';
import { openExternalScene } from './external-scene.ts';

const CHILD = new URL('./cassette-child.ts', import.meta.url).pathname;

describe('random runs', () => {
  const path = fc.constantFrom('a.txt', 'b.txt', 'dir/c.txt', 'dir', '../out', '.');
  const text = fc.constantFrom('one\n', 'two\nlines\n', '', '<workspace> and <state!>\n', 'ünï\u0000');
  const call = fc.oneof(
    fc.record({ tool: fc.constant('file_write'), args: fc.record({ path, content: text }) }),
    fc.record({ tool: fc.constantFrom('file_read', 'fs_delete', 'fs_list'), args: fc.record({ path }) }),
    fc.record({
      tool: fc.constant('fs_stat'),
      args: fc.record({ paths: fc.array(path, { minLength: 1, maxLength: 2 }) }),
    }),
    fc.record({ tool: fc.constant('fs_move'), args: fc.record({ src: path, dst: path }) }),
    fc.record({
      tool: fc.constant('file_edit'),
      args: fc.record({ path, edits: fc.constant([{ old: 'one', new: 'three' }]) }),
    }),
    fc.record({
      tool: fc.constantFrom('change_list', 'no_such_tool', 'grep'),
      args: fc.constantFrom({}, { pattern: 'o' }),
    }),
  );
  const step = fc.oneof(
    { weight: 4, arbitrary: call.map((one) => [one]) },
    { weight: 1, arbitrary: fc.array(call, { minLength: 2, maxLength: 4 }) },
  );

  const runner =
    (steps: readonly (readonly { tool: string; args: object }[])[]) =>
    async ({ session, workspace }: TapedRun) => {
      const answers: unknown[] = [];
      for (const batch of steps) {
        const strategy = { type: 'ordered_batch', max_in_flight: 4 } as const;
        const responses = batch.length === 1 ? await session.batch(batch) : await session.batch(batch, { strategy });
        for (const { ok, data, errors, warnings, change_id } of responses) {
          answers.push({ ok, data, errors, warnings, ...(change_id === undefined ? {} : { change_id }) });
        }
      }
      return JSON.parse(JSON.stringify(answers).replaceAll(workspace, '<workspace>')) as unknown[];
    };

  /** As they are in the file, with literal marks as they are given back. */
  const recordedAnswers = (tape: TapeFolder) =>
    tape
      .lines()
      .slice(1)
      .map(
        ({ answer }) =>
          JSON.parse(JSON.stringify(answer).replaceAll(/<(workspace|state|home)!(!*)>/g, '<$1$2>')) as unknown,
      );

  test('give the same bytes when they are recorded again, and the recorded answers in replay (deep)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        using tape = createTapeFolder();
        const use = runner(steps);
        const live = await tape.run({}, use);
        const first = tape.read();
        await tape.run({}, use);
        assert.equal(tape.read(), first);
        for (const applyFiles of [false, true]) {
          const replayed = await tape.run({ mode: 'replay', applyFiles }, async (run) => {
            const answers = await use(run);
            assert.equal(run.runtime.cassette()?.failure, undefined);
            assert.equal(run.runtime.cassette()?.left, 0);
            return answers;
          });
          assert.deepEqual(replayed, recordedAnswers(tape));
          const outline = (answers: readonly unknown[]) => (answers as { ok: boolean }[]).map(({ ok }) => ok);
          assert.deepEqual(outline(replayed), outline(live));
        }
      }),
      { numRuns: 20 },
    );
  });

  test('leave the same files when they are applied to a scratch folder (deep)', async () => {
    const tree = (folder: string): Readonly<Record<string, string>> =>
      Object.fromEntries(
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .sort()
          .map((name) => {
            const place = join(folder, name);
            return [name, statSync(place).isDirectory() ? 'folder' : readFileSync(place, 'base64')];
          }),
      );
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 8 }), async (calls) => {
        using tape = createTapeFolder();
        const use = async (run: TapedRun) => {
          for (const { tool, args } of calls) await run.session.call(tool, args);
          assert.equal(run.runtime.cassette()?.failure, undefined);
          return tree(run.workspace);
        };
        const live = await tape.run({}, use);
        assert.deepEqual(await tape.run({ mode: 'replay', applyFiles: true }, use), live);
      }),
      { numRuns: 20 },
    );
  });
});

describe('an external tool', () => {
  test('is recorded with the same bytes twice, and replayed without its program and its lock (deep)', async () => {
    using tape = createTapeFolder();
    const work = 'echo "a line"; cd "$TOOL_PROJECT_ROOT" && echo made > made.txt; result';
    const record = async (): Promise<unknown> => {
      const scene = await openExternalScene({
        tools: ['name: writer, writable: true'],
        registry: ['effects: recorded'],
        runtime: { cassette: { mode: 'record', file: tape.file() } },
      });
      try {
        const { ok, data, errors } = await scene.session.call('writer', { args: [work] });
        assert.deepEqual(errors, []);
        return [ok, (data as { stdout: string }).stdout];
      } finally {
        await scene.dispose();
      }
    };
    const recorded = await record();
    const first = tape.read();
    assert.match(first, /"path":"made.txt","file":\{"text":"made\\n"\}/);
    assert.deepEqual(await record(), recorded);
    assert.equal(tape.read(), first);
    await tape.run(
      { mode: 'replay', applyFiles: true },
      async ({ session, workspace }) => {
        assert.equal(session.tools('writer').length, 1);
        const { ok, data, errors } = await session.call('writer', { args: [work] });
        assert.deepEqual([ok, (data as { stdout?: string } | null)?.stdout], recorded, JSON.stringify(errors));
        assert.deepEqual(readdirSync(workspace), ['made.txt']);
      },
      { registry: { file: 'r.yaml', text: 'version: 1\nside_effect_level: process_exec\n' } },
    );
  });
});

describe('a process with a cassette', () => {
  const start = (tape: TapeFolder, mode: string, name: string, rest: readonly string[]) => {
    const [workspace, state] = [tape.file(`${name}-workspace`), tape.file(`${name}-state`)];
    mkdirSync(workspace);
    return [process.execPath, '-C', 'tool-runtime-source', CHILD, workspace, state, tape.file(), mode, ...rest];
  };

  test('leaves whole calls when it is killed while it records (deep)', async () => {
    using tape = createTapeFolder();
    const [node = '', ...words] = start(tape, 'record', 'killed', ['100000']);
    const child = spawn(node, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
    assert.equal(child.exitCode, null);
    while (tape.read().split('\n').length < 40) await wait(5);
    child.kill('SIGKILL');
    await once(child, 'close');
    const calls = tape.lines().length - 1;
    assert.ok(calls >= 38);
    await tape.run({ mode: 'replay' }, async ({ session, runtime }) => {
      assert.equal(runtime.cassette()?.left, calls);
      for (let round = 0; round < Math.floor(calls / 2); round++) {
        const content = `${round}\n`.repeat(50);
        assert.equal((await session.call('file_write', { path: `file-${round}.txt`, content })).ok, true);
        const read = await session.call('file_read', { path: `file-${round}.txt` });
        assert.deepEqual([read.ok, (read.data as { content: string }).content], [true, content]);
      }
    });
  });

  test('starts nothing, connects to nothing and writes nothing but its state in replay (deep)', async () => {
    using tape = createTapeFolder();
    const server = createServer((_request, response) => response.end('from the network'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
    const traced = async (mode: string) => {
      const trace = tape.file(`${mode}.trace`);
      const calls =
        'execve,connect,bind,sendto,openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,symlinkat,linkat';
      const options = ['-f', '-y', '-qq', '-s', '300', '-e', 'signal=none', '-e', `trace=${calls}`, '-o', trace];
      const child = spawn('strace', [...options, ...start(tape, mode, mode, ['2', url])], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
      });
      await once(child, 'close');
      assert.match(printed, /DONE .*"(?:recorded|replayed)":7/);
      return readFileSync(trace, 'utf8').split('\n');
    };
    try {
      const starts = (lines: readonly string[]) => lines.filter((line) => /execve\(.*= 0$/.test(line)).length;
      const connects = (lines: readonly string[]) =>
        lines.filter((line) => /(?:connect|sendto)\(.*sa_family=AF_INET/.test(line));
      const recorded = await traced('record');
      assert.ok(starts(recorded) > 1 && connects(recorded).length > 0, 'the trace sees programs and connections');
      server.closeAllConnections();
      server.close();
      const lines = await traced('replay');
      assert.equal(starts(lines), 1);
      assert.deepEqual(connects(lines), []);
      assert.deepEqual(readdirSync(tape.file('replay-workspace')), []);
      const written = lines.filter(
        (line) =>
          /(?:O_WRONLY|O_RDWR|O_CREAT|\b(?:rename|unlink|mkdir|symlink|link)\w*\()/.test(line) &&
          !/ = -1 /.test(line) &&
          !/"?\/(?:dev|proc)\//.test(line) &&
          !line.includes('tool-runtime-compiled') &&
          !line.includes('replay-state'),
      );
      assert.deepEqual(written, []);
    } finally {
      server.close();
    }
  });
});
