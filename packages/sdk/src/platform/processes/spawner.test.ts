import assert from 'node:assert/strict';
import { execFile, spawn as nodeSpawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { SpawnedProcess, Spawner, SpawnOptions } from './spawned-process.ts';
import { createSpawner } from './spawner.ts';

const QUIET: SpawnOptions = {
  program: '/bin/true',
  args: [],
  env: {},
  cwd: '/',
  stdin: 'null',
  stdout: 'null',
  stderr: 'null',
};

function start(spawner: Spawner, options: Partial<SpawnOptions>): Promise<SpawnedProcess> {
  return spawner.spawn({ ...QUIET, ...options });
}

function shell(spawner: Spawner, script: string, options: Partial<SpawnOptions> = {}): Promise<SpawnedProcess> {
  return start(spawner, { program: '/bin/sh', args: ['-c', script], stdout: 'pipe', stderr: 'pipe', ...options });
}

async function answer(child: SpawnedProcess): Promise<{ out: string; err: string; code: number | null }> {
  const [out, err, { code }] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    child.exited,
  ]);
  return { out, err, code };
}

function openDescriptors(): string[] {
  return readdirSync('/proc/self/fd');
}

function scratch(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spawner-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

for (const backend of ['native', 'node'] as const) {
  describe(`a process started by the ${backend} spawner`, () => {
    const spawner = createSpawner({ backend });

    test('gets exactly its arguments, environment and folder [S0-36]', async (t) => {
      const cwd = scratch(t);
      const odd = ['', 'two words', 'ö€😀', '$HOME', "'", 'a\nb', 'x'.repeat(100_000)];
      const child = await shell(spawner, 'pwd; env; shift; printf "%s|" "$@"', {
        args: ['-c', '/bin/pwd; /usr/bin/env; printf "%s|" "$@"', 'sh', ...odd],
        env: { ONE: '1', TWO: 'b c' },
        cwd,
      });
      const { out, code } = await answer(child);
      assert.equal(code, 0);
      const [first, ...rest] = out.split('\n');
      assert.equal(first, cwd);
      const names = rest.filter((line) => /^[A-Z_]+=/.test(line)).map((line) => line.split('=')[0]);
      // The shell itself adds PWD, and some add OLDPWD, SHLVL and _.
      assert.deepEqual(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name ?? '')).sort(), [
        'ONE',
        'TWO',
      ]);
      assert.ok(out.endsWith(`${odd.join('|')}|`));
    });

    test('reads what it is given, until the end', async () => {
      const child = await start(spawner, { program: '/bin/cat', stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
      const big = 'line\n'.repeat(200_000);
      child.stdin?.end(big);
      assert.deepEqual(await answer(child), { out: big, err: '', code: 0 });
    });

    test('finds its input at the end at once when it is given none', async () => {
      assert.equal(
        (await answer(await start(spawner, { program: '/bin/cat', stdout: 'pipe', stderr: 'pipe' }))).out,
        '',
      );
    });

    test('keeps output and errors apart', async () => {
      assert.deepEqual(await answer(await shell(spawner, 'echo out; echo err >&2; exit 7')), {
        out: 'out\n',
        err: 'err\n',
        code: 7,
      });
    });

    test('writes straight into a descriptor, and reads from one', async (t) => {
      const folder = scratch(t);
      writeFileSync(join(folder, 'in'), 'from a file');
      const [stdin, stdout] = [openSync(join(folder, 'in'), 'r'), openSync(join(folder, 'out'), 'w')];
      const child = await start(spawner, { program: '/bin/cat', stdin, stdout });
      closeSync(stdin);
      closeSync(stdout);
      assert.equal((await child.exited).code, 0);
      assert.equal(readFileSync(join(folder, 'out'), 'utf8'), 'from a file');
    });

    test('gets further descriptors in order, whatever their numbers in the host', async (t) => {
      const folder = scratch(t);
      for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, name), name);
      const fds = ['a', 'b', 'c'].map((name) => openSync(join(folder, name), 'r')).reverse();
      const child = await shell(spawner, 'cat <&3; cat <&4; cat <&5; echo told >&6', { extraFds: [...fds, 'pipe'] });
      fds.forEach(closeSync);
      const told = text(child.extra[0] as Readable);
      assert.equal((await answer(child)).out, 'cba');
      assert.equal(await told, 'told\n');
    });

    test('tells the signal that ended it', async () => {
      const child = await shell(spawner, 'kill -SEGV $$');
      assert.deepEqual(await child.exited, { code: null, signal: 'SIGSEGV' });
    });

    test('has default signals: a writer without reader ends', async () => {
      const child = await shell(spawner, 'yes | head -n 1; grep SigIgn /proc/self/status');
      const { out } = await answer(child);
      assert.match(out, /^y\nSigIgn:\s*0+\n$/);
    });

    test('takes its whole group along when it is killed [S0-37]', async () => {
      const child = await shell(spawner, 'sleep 1000 & echo started; wait');
      const closed = new Promise((resolve) => child.stdout?.once('close', resolve));
      await new Promise((resolve) => child.stdout?.once('data', resolve));
      child.kill('SIGKILL');
      assert.deepEqual(await child.exited, { code: null, signal: 'SIGKILL' });
      // The background process held the pipe; its end says that it is gone too.
      await closed;
      child.kill('SIGKILL');
    });

    test('leads a session of its own', async () => {
      const child = await shell(spawner, 'cut -d" " -f6 /proc/self/stat');
      assert.equal((await answer(child)).out.trim(), String(child.pid));
    });

    test('is refused by the number of the failure, and nothing stays open', async () => {
      await start(spawner, {}).then(({ exited }) => exited);
      const before = openDescriptors().length;
      const pipes: Partial<SpawnOptions> = { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', extraFds: ['pipe'] };
      await assert.rejects(start(spawner, { ...pipes, program: '/bin/no-such-program' }), { code: 'ENOENT' });
      await assert.rejects(start(spawner, { ...pipes, program: '/etc/passwd' }), { code: 'EACCES' });
      await assert.rejects(start(spawner, { ...pipes, cwd: '/no/such/folder' }), { code: 'ENOENT' });
      await assert.rejects(start(spawner, { ...pipes, args: ['x'.repeat(3_000_000)] }), { code: 'E2BIG' });
      await assert.rejects(start(spawner, { ...pipes, args: ['a\0b'] }), TypeError);
      await new Promise(setImmediate);
      assert.equal(openDescriptors().length, before);
    });

    test('leaves no descriptor behind in the host', async () => {
      const before = openDescriptors().length;
      for (let round = 0; round < 20; round++) {
        const link = spawner.createLink();
        const writer = await start(spawner, { program: '/bin/echo', args: ['x'], stdout: link });
        const reader = await start(spawner, { program: '/bin/cat', stdin: link, stdout: 'pipe', stderr: 'pipe' });
        link.close();
        assert.equal((await answer(reader)).out, 'x\n');
        await writer.exited;
      }
      await new Promise(setImmediate);
      assert.ok(openDescriptors().length <= before + 1);
    });

    test('feeds the next one through a link, and ends when that one has read enough', async () => {
      const link = spawner.createLink();
      const yes = await start(spawner, { program: '/usr/bin/yes', stdout: link });
      const head = await start(spawner, {
        program: '/usr/bin/head',
        args: ['-n', '2'],
        stdin: link,
        stdout: 'pipe',
        stderr: 'pipe',
      });
      link.close();
      assert.equal((await answer(head)).out, 'y\ny\n');
      const { code, signal } = await yes.exited;
      // Through the host the writer sees a closed socket, which it may also report by itself.
      assert.ok(signal === 'SIGPIPE' || code === 1, `${code} ${signal}`);
    });

    test('runs beside others and beside children of Node, and each end is noticed', async () => {
      const ours = Array.from({ length: 40 }, async (_, index) => {
        const child = await shell(spawner, `exit ${index}`);
        return (await child.exited).code;
      });
      const nodes = Array.from({ length: 10 }, (_, index) => {
        const child = nodeSpawn('/bin/sh', ['-c', `exit ${index}`]);
        return new Promise((resolve) => child.on('exit', resolve));
      });
      assert.deepEqual(await Promise.all(nodes), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      assert.deepEqual(await Promise.all(ours), [...Array(40).keys()]);
      assert.equal(spawnSync('/bin/sh', ['-c', 'exit 5']).status, 5);
    });

    test('streams far more than it may hold, in flat memory', async () => {
      const total = 300_000_000;
      const child = await start(spawner, {
        program: '/usr/bin/head',
        args: ['-c', `${total}`, '/dev/zero'],
        stdout: 'pipe',
      });
      let seen = 0;
      let highest = 0;
      const before = process.memoryUsage().rss;
      for await (const chunk of child.stdout as Readable) {
        seen += (chunk as Buffer).length;
        highest = Math.max(highest, process.memoryUsage.rss() - before);
      }
      assert.equal(seen, total);
      assert.ok(highest < 150_000_000, `${highest}`);
    });
  });
}

test('a descriptor the host inherited does not reach a child, by either spawner [S0-36]', (t) => {
  const secret = join(scratch(t), 'secret');
  writeFileSync(secret, 'CANARY');
  // Node itself marks the lowest inherited numbers, up to the first gap.
  const hostWithSecret = (script: string, ...args: readonly string[]) =>
    spawnSync('/bin/bash', [
      '-c',
      'exec "$@" 20<"$0"',
      secret,
      process.execPath,
      '-C',
      'tool-runtime-source',
      ...args,
      '-e',
      script,
    ]).stdout.toString();
  const child = "['-c', 'cat /proc/self/fd/20 && echo read']";
  const naive = hostWithSecret(
    `require('child_process').spawn('/bin/sh', ${child}, { stdio: 'inherit' });`,
    '--input-type=commonjs',
  );
  assert.equal(naive, 'CANARYread\n');
  for (const backend of ['native', 'node']) {
    const seen = hostWithSecret(
      `import { createSpawner } from ${JSON.stringify(new URL('./spawner.ts', import.meta.url).href)};
       const spawner = createSpawner({ backend: '${backend}' });
       const child = await spawner.spawn({ program: '/bin/sh', args: ${child}, env: {}, cwd: '/', stdin: 'null',
         stdout: 'pipe', stderr: 'pipe' });
       child.stdout.pipe(process.stdout);
       const { code } = await child.exited;
       console.log('exit', code);`,
      '--input-type=module',
    );
    assert.match(seen, /exit \d/, backend);
    assert.doesNotMatch(seen, /CANARY/, backend);
  }
});

test('the event loop ends when the last child has ended, and not before', async () => {
  const script = `
    import { createSpawner } from ${JSON.stringify(new URL('./spawner.ts', import.meta.url).href)};
    const child = await createSpawner({ backend: 'native' }).spawn({ program: '/bin/sleep', args: ['0.3'], env: {},
      cwd: '/', stdin: 'null', stdout: 'null', stderr: 'null' });
    child.exited.then(({ code }) => console.log('exit', code));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  assert.equal(stdout, 'exit 0\n');
});

for (const backend of ['native', 'node'] as const) {
  test(`a child waits at its gate until it is opened, started by ${backend} [S0-36]`, async () => {
    const spawner = createSpawner({ backend });
    const child = await shell(spawner, 'head -c 1 <&4; echo went on; exec 4<&-', { extraFds: ['pipe', 'gate'] });
    assert.equal(child.extra.length, 1);
    child.gate?.open();
    assert.equal((await answer(child)).out, '1went on\n');
    // Another time, and after the child has ended: nothing happens.
    child.gate?.open();
    child.gate?.close();
  });
}

test('a child at a native gate finds no end of file when its host dies [S0-36]', async () => {
  const child = await shell(createSpawner({ backend: 'native' }), 'read word <&4', { extraFds: ['pipe', 'gate'] });
  const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/${child.pid}/fdinfo/4`, 'latin1'))?.[1] ?? '';
  child.kill('SIGKILL');
  child.gate?.close();
  await child.exited;
  // Open for reading and writing: the child itself holds the other end.
  assert.equal(Number.parseInt(flags, 8) & 3, 2);
});
