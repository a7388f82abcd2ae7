import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { startAttacker } from '../../../test/swapping-attacker.ts';
import { digest } from '../digest.ts';
import { sealCopy, sweepSealedCopies } from './sealed-copy.ts';

function scene(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sealed-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'bin'));
  return { base: join(folder, 'exec'), bin: join(folder, 'bin') };
}

function script(path: string, says: string): void {
  writeFileSync(path, `#!/bin/sh\necho ${says}\n`);
  chmodSync(path, 0o755);
}

const said = (program: string): string => execFileSync(program, { encoding: 'utf8' }).trim();

async function reasonOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'none',
    (thrown) => (isToolError(thrown) ? thrown.details['reason'] : thrown),
  );
}

describe('a sealed copy', () => {
  test('runs, is read-only and private, and is gone when it is removed [S4-46]', async (t) => {
    const { base, bin } = scene(t);
    script(join(bin, 'tool'), 'good');
    const sealed = await sealCopy({ base, program: join(bin, 'tool'), files: [] });
    assert.equal(said(sealed.program), 'good');
    assert.equal(sealed.digest, digest(readFileSync(join(bin, 'tool'))));
    assert.deepEqual(sealed.files, {});
    assert.equal(lstatSync(sealed.program).mode & 0o777, 0o500);
    assert.equal(lstatSync(sealed.folder).mode & 0o777, 0o700);
    const config = sealed.addFile('config.json', '{}');
    assert.equal(lstatSync(config).mode & 0o777, 0o400);
    assert.throws(() => sealed.addFile('config.json', 'again'), { code: 'EEXIST' });
    await sealed.remove();
    assert.deepEqual(readdirSync(base), []);
  });

  test('brings the listed files with their layout, each once [S4-46]', async (t) => {
    const { base, bin } = scene(t);
    script(join(bin, 'tool'), 'good');
    mkdirSync(join(bin, 'lib', 'deep'), { recursive: true });
    writeFileSync(join(bin, 'lib', 'one'), '1');
    script(join(bin, 'lib', 'deep', 'run'), 'inner');
    writeFileSync(join(bin, 'beside'), 'not listed');
    const sealed = await sealCopy({ base, program: join(bin, 'tool'), files: ['lib/one', 'lib', 'lib/deep/run'] });
    assert.deepEqual(Object.keys(sealed.files).sort(), ['lib/deep/run', 'lib/one']);
    assert.equal(sealed.files['lib/one'], digest('1'));
    assert.equal(said(join(sealed.program, '..', 'lib', 'deep', 'run')), 'inner');
    assert.equal(existsSync(join(sealed.program, '..', 'beside')), false);
    await sealed.remove();
    assert.deepEqual(readdirSync(base), []);
  });

  const refused: readonly [string, string, (bin: string) => void, readonly string[]][] = [
    ['a program that is not there', 'not_found', () => {}, []],
    ['a link', 'not_regular', (bin) => symlinkSync('/bin/true', join(bin, 'tool')), []],
    ['a pipe, without waiting', 'not_regular', (bin) => spawnSync('mkfifo', [join(bin, 'tool')]), []],
    ['a folder', 'not_regular', (bin) => mkdirSync(join(bin, 'tool')), []],
    ['a listed file that is not there', 'not_found', (bin) => script(join(bin, 'tool'), 'x'), ['gone']],
    [
      'a listed link',
      'not_regular',
      (bin) => {
        script(join(bin, 'tool'), 'x');
        symlinkSync('/etc/passwd', join(bin, 'lib'));
      },
      ['lib'],
    ],
    [
      'a link to a folder on the way',
      'not_regular',
      (bin) => {
        script(join(bin, 'tool'), 'x');
        symlinkSync('/etc', join(bin, 'lib'));
      },
      ['lib/passwd'],
    ],
    [
      'a link inside a listed folder',
      'not_regular',
      (bin) => {
        script(join(bin, 'tool'), 'x');
        mkdirSync(join(bin, 'lib'));
        symlinkSync('/etc/passwd', join(bin, 'lib', 'x'));
      },
      ['lib'],
    ],
  ];
  for (const [name, reason, arrange, files] of refused) {
    test(`is not made of ${name}, and nothing is left of it [S4-46]`, async (t) => {
      const { base, bin } = scene(t);
      arrange(bin);
      assert.equal(await reasonOf(sealCopy({ base, program: join(bin, 'tool'), files })), reason);
      assert.deepEqual(readdirSync(base), []);
    });
  }

  test('is what was hashed although the name is swapped all the time; hashing and then running is not [S4-46]', async (t) => {
    const { base, bin } = scene(t);
    script(join(bin, 'folder'), 'good');
    script(join(bin, 'trap'), 'evil');
    const good = digest(readFileSync(join(bin, 'folder')));
    const stop = await startAttacker(bin);
    const seen = { fooled: 0, good: 0, wrong: 0 };
    try {
      for (let round = 0; round < 2000 && (seen.fooled === 0 || seen.good < 20); round++) {
        const program = join(bin, 'folder');
        // Naive: what has the name now is checked, what has it then is run.
        if (digest(readFileSync(program)) === good && said(program) === 'evil') seen.fooled += 1;
        if (seen.good >= 20) continue;
        const sealed = await sealCopy({ base, program, files: [] });
        if (sealed.digest === good) seen[said(sealed.program) === 'good' ? 'good' : 'wrong'] += 1;
        await sealed.remove();
      }
    } finally {
      await stop();
    }
    assert.ok(seen.fooled > 0, 'the attack never worked');
    assert.deepEqual({ good: seen.good, wrong: seen.wrong }, { good: 20, wrong: 0 });
  });

  test('is swept when its process is dead, not while it lives [S4-46]', async (t) => {
    const { base, bin } = scene(t);
    script(join(bin, 'tool'), 'good');
    const module = new URL('./sealed-copy.ts', import.meta.url).href;
    const child = `const { sealCopy } = await import('${module}');
      await sealCopy({ base: process.argv[1], program: process.argv[2], files: [] });`;
    execFileSync(process.execPath, [
      '-C',
      'tool-runtime-source',
      '--input-type=module',
      '-e',
      child,
      base,
      join(bin, 'tool'),
    ]);
    const mine = await sealCopy({ base, program: join(bin, 'tool'), files: [] });
    mkdirSync(join(base, 'not-ours'));
    assert.equal(readdirSync(base).length, 3);
    await sweepSealedCopies(base);
    assert.deepEqual(readdirSync(base).sort(), [mine.folder.slice(base.length + 1), 'not-ours'].sort());
    await sweepSealedCopies(join(base, 'missing'));
    await mine.remove();
  });
});
