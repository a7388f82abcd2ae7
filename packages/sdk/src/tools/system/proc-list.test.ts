import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

interface Row {
  readonly pid: number;
  readonly cmd: string;
  readonly cpu: number;
  readonly mem_mb: number;
}

async function list(args: object): Promise<{ rows: Row[]; truncated: boolean; code: string | undefined }> {
  const { session, dispose } = await openScratchRuntime({ secrets: ['hunter2hunter2'] });
  const response = await session.call('proc_list', args);
  await dispose();
  const data = response.data as { processes: Row[]; truncated: boolean } | null;
  return { rows: data?.processes ?? [], truncated: data?.truncated ?? false, code: response.errors[0]?.code };
}

async function withSleeper(words: readonly string[], use: (pid: number) => Promise<void>): Promise<void> {
  const child = spawn('sleep', ['60'], { argv0: ['sleep', ...words].join(' '), stdio: 'ignore' });
  await once(child, 'spawn');
  try {
    await use(child.pid ?? 0);
  } finally {
    child.kill('SIGKILL');
  }
}

describe('proc_list [S0-35]', () => {
  test('lists this process with the memory and CPU that ps reports [S0-35]', async () => {
    const { rows } = await list({ limit: 10_000 });
    const mine = rows.find((row) => row.pid === process.pid);
    const [cpu, rss] = spawnSync('ps', ['-o', '%cpu=,rss=', '-p', String(process.pid)], { encoding: 'utf8' })
      .stdout.trim()
      .split(/\s+/)
      .map(Number);
    assert.ok(mine !== undefined && cpu !== undefined && rss !== undefined);
    assert.ok(Math.abs(mine.mem_mb - rss / 1024) < 30, `${mine.mem_mb} MiB against ${rss / 1024}`);
    assert.ok(Math.abs(mine.cpu - cpu) < 40, `${mine.cpu} % against ${cpu} %`);
  });

  test('filters by a linear regex and redacts known secrets and token shapes [S0-35]', () =>
    withSleeper(
      ['--marker-7f3a', '--password=hunter2hunter2', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'],
      async (pid) => {
        const { rows } = await list({ filter: 'marker-[0-9a-f]{4}' });
        assert.deepEqual(
          rows.map((row) => row.pid),
          [pid],
        );
        assert.doesNotMatch(rows[0]?.cmd ?? '', /hunter2|ghp_abc/);
        assert.deepEqual((await list({ filter: 'hunter2hunter2' })).rows, []);
      },
    ));

  test('returns at most limit rows and says when there were more [S0-35 S0-81]', async () => {
    const { rows, truncated } = await list({ limit: 1 });
    assert.deepEqual([rows.length, truncated], [1, true]);
    assert.ok((await list({})).rows.length <= 50);
  });

  test('a bad filter and a bad limit are E_VALIDATION_FAIL; a catastrophic one is harmless', async () => {
    assert.equal((await list({ filter: '(' })).code, 'E_VALIDATION_FAIL');
    assert.equal((await list({ limit: 0 })).code, 'E_VALIDATION_FAIL');
    assert.equal((await list({ filter: '^(a+)+$' })).code, undefined);
  });

  test('processes that come and go while it reads are no error', async () => {
    const churn = spawn('sh', ['-c', 'for i in $(seq 300); do true & done; wait'], { stdio: 'ignore' });
    for (let round = 0; round < 5; round++) assert.equal((await list({})).code, undefined);
    churn.kill('SIGKILL');
  });
});
