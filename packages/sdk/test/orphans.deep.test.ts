/** A host killed around the start of its commands: nothing of them runs on, although nothing of ours starts again. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { processesWith } from './processes-with.ts';

const CHILD = new URL('./orphan-child.ts', import.meta.url).pathname;
const KILLS = Number(process.env['ORPHAN_KILLS'] ?? 3);

for (const isolation of ['bubblewrap', 'none']) {
  test(`no command outlives a host that is killed (${isolation})`, async (t) => {
    const folders = ['workspace', 'state'].map((name) => mkdtempSync(join(tmpdir(), `orphans-${name}-`)));
    t.after(() => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });
    let running = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const mark = `${process.pid}${kill}`;
      const words = ['-C', 'tool-runtime-source', CHILD, ...folders, isolation, mark];
      const host = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
      const [said] = await Promise.race([once(host.stdout, 'data'), once(host, 'exit')]);
      assert.equal(String(said), 'begins\n');
      await wait((kill * 7) % 40);
      running += processesWith(`3600.${mark}`).length;
      host.kill('SIGKILL');
      await once(host, 'exit');
      while (processesWith(`3600.${mark}`).length > 0) await wait(20);
    }
    t.diagnostic(`${running} processes were running when their host was killed`);
  });
}
