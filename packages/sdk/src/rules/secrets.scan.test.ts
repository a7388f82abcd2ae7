import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { type GateAnswer, inForce, withGate } from '../../test/gate-probe.ts';

const registry = inForce('secrets.scan');
/** Put together here, so that no scanner finds it in this file. */
const TOKEN = ['ghp', 'Zq3vB8nXk2LwYt7RmPd5HsJc9GfEa1Uo4iKz'].join('_');
const OTHER = ['ghp', 'Ab4kN9pQx2RsTv6WyZ1cDe7FgHj3Lm8Uo5iB'].join('_');

function assertFound(answer: GateAnswer, message: string | RegExp): void {
  assert.equal(answer.ok, false);
  assert.equal(answer.error?.code, 'E_VALIDATION_FAIL');
  assert.equal(answer.error?.details?.['rule'], 'secrets.scan');
  assert.match(String(answer.error?.message), typeof message === 'string' ? new RegExp(`^${message}$`) : message);
  for (const secret of [TOKEN, OTHER]) assert.ok(!answer.text.includes(secret), 'the answer repeats the secret');
}

describe('secrets.scan [S0-67]', () => {
  test('finds a secret in what is staged, says where and of which kind, and never repeats it [S0-67]', async () => {
    await withGate({ registry, files: { 'a.ts': 'const token = process.env.TOKEN;\n' } }, async (gate) => {
      gate.stage({ 'a.ts': 'const token = readToken();\n', 'b.md': 'A token begins with ghp_ and is long.\n' });
      assert.equal((await gate.ask()).error, undefined);
      gate.stage({ 'a.ts': `// first\nconst token = '${TOKEN}';\n` });
      const answer = await gate.ask();
      assertFound(answer, 'Secret in a file \\(GitHub token\\): a\\.ts:2');
      assert.equal(answer.error?.path, 'a.ts');
      assert.equal(answer.error?.details?.['line'], 2);
      assert.equal(answer.error?.details?.['kind'], 'github-token');
      const fingerprint = createHash('sha256').update(TOKEN).digest('hex');
      assert.equal(answer.error?.details?.['fingerprint'], fingerprint);
      assert.equal(answer.error?.details?.['blob'], gate.repository.git('rev-parse', ':a.ts').trim());
    });
  });

  test('scans the staged content and not the file on disk, nor files that go away [S0-67]', async () => {
    const text = `${registry}\ngit: {require_clean_tree_for_commit: false}`;
    await withGate({ registry: text, files: { 'old.txt': `${OTHER}\n`, 'a.txt': 'x\n' } }, async (gate) => {
      gate.stage({ 'a.txt': `${TOKEN}\n` });
      gate.repository.write({ 'a.txt': 'clean on disk\n' });
      assertFound(await gate.ask(), /a\.txt:1$/);
      gate.repository.git('add', 'a.txt');
      gate.repository.write({ 'a.txt': `${TOKEN} only on disk\n` });
      assert.equal((await gate.ask()).ok, true);
      gate.repository.git('checkout', '--quiet', 'a.txt');
      gate.stage({ 'old.txt': null });
      assert.equal((await gate.ask()).ok, true);
    });
  });

  test('finds it in the message, in a file name and in the target of a link, without repeating it [S0-67] (deep)', async () => {
    await withGate({ registry, files: { 'a.txt': 'x\n' } }, async (gate) => {
      gate.stage({ 'a.txt': 'y\n' });
      assert.equal((await gate.ask({ message: 'feat: rotate the token' })).ok, true);
      assertFound(
        await gate.ask({ message: `feat: x\n\nuses ${TOKEN}` }),
        'Secret in the commit message \\(GitHub token\\): line 3',
      );
      gate.stage({ link: { link: `/run/${TOKEN}` } });
      assertFound(await gate.ask(), 'Secret in a link \\(GitHub token\\): link:1');
      gate.stage({ link: { link: 'a.txt' }, [`backup/${TOKEN}.txt`]: 'x\n' });
      assertFound(await gate.ask(), 'Secret in a file name \\(GitHub token\\)');
      gate.stage({ [`backup/${TOKEN}.txt`]: `${OTHER}\n` });
      const both = await gate.ask();
      assertFound(both, 'Secret in a file name \\(GitHub token\\)');
      assert.match(both.text, /a file whose name holds a secret/);
    });
  });

  test('no comment, attribute, encoding or binary neighbour switches the scan off [S0-67] (deep)', async () => {
    const hiding = {
      'comment.js': `/* secretlint-disable */\n// gitleaks:allow\nx = '${TOKEN}' // secretlint-disable-line\n`,
      'attribute.bin': `${TOKEN}\n`,
      'utf16.txt': Buffer.from(`\ufeff${TOKEN}\n`, 'utf16le'),
      'binary.dat': Buffer.concat([Buffer.from([255, 0, 1, 2]), Buffer.from(TOKEN), Buffer.from([0, 0])]),
      'odd "näme"\n.txt': `${TOKEN}\n`,
    };
    const attributes = { '.gitattributes': '*.bin binary -diff\n*.js -text -diff\n' };
    for (const [name, content] of Object.entries(hiding)) {
      await withGate({ registry, files: attributes }, async (gate) => {
        gate.stage({ [name]: content });
        assertFound(await gate.ask(), /^Secret in a file /);
      });
    }
  });

  test('an exception of the operator counts, by blob or by fingerprint, and only for what it names [S0-67] (deep)', async () => {
    const blob = createHash('sha1')
      .update(`blob ${TOKEN.length + 1}\0${TOKEN}\n`)
      .digest('hex');
    const fingerprint = createHash('sha256').update(TOKEN).digest('hex');
    for (const [allowed, alsoElsewhere] of [
      [blob, false],
      [fingerprint, true],
    ] as const) {
      const text = `${registry}\nsecrets: {allow: ["${allowed}"]}`;
      await withGate({ registry: text, files: {} }, async (gate) => {
        gate.stage({ 'sample.txt': `${TOKEN}\n`, 'copy/of-it.txt': `${TOKEN}\n` });
        assert.equal((await gate.ask()).error, undefined);
        gate.stage({ 'sample.txt': `${TOKEN} and more\n` });
        assert.equal((await gate.ask()).ok, alsoElsewhere);
        gate.stage({ 'sample.txt': `${OTHER}\n` });
        assertFound(await gate.ask(), /sample\.txt:1$/);
      });
    }
  });

  test('an exception in a session’s own registry is refused [S0-67 S0-23]', async () => {
    const session = { registry: { file: 's.yaml', text: `version: 1\nsecrets: {allow: ["${'a'.repeat(40)}"]}\n` } };
    await assert.rejects(
      withGate({ registry, files: {}, runtime: { session } }, async () => {}),
      /Exceptions of the secrets scan are not those of the host/,
    );
  });

  test('a secret that a commit outside brought in is found before it is pushed [S0-67]', async () => {
    await withGate({ registry, files: { 'a.txt': 'x\n' } }, async (gate) => {
      assert.equal((await gate.ask({ verb: 'push' })).ok, true);
      gate.repository.commit({ 'a.txt': `${TOKEN}\n` });
      assertFound(await gate.ask({ verb: 'push' }), /a\.txt:1$/);
    });
  });

  test('a secret that was committed and taken out again is still published, and found [S0-67] (deep)', async () => {
    await withGate(
      { registry: `${registry}\ngit: {allow_push: true}`, files: { 'a.txt': 'x\n' } },
      async ({ repository, ask, stage }) => {
        const remote = `${repository.beside}/remote.git`;
        repository.git('init', '--quiet', '--bare', remote);
        repository.git('remote', 'add', 'origin', remote);
        repository.git('push', '--quiet', 'origin', 'main');
        stage({ 'a.txt': 'judged\n' });
        assert.equal((await ask()).ok, true);
        repository.git('commit', '--quiet', '-m', 'fix: judged');
        assert.equal((await ask({ verb: 'push', remote: 'origin' })).ok, true, 'by the pass of the commit');
        repository.commit({ 'a.txt': `${TOKEN}\n` });
        repository.commit({ 'a.txt': 'judged\n' });
        assertFound(await ask({ verb: 'push', remote: 'origin' }), /a\.txt:1$/);
      },
    );
  });
  test('a first push of a branch is judged from where it left what the remote has, not by its last commit [S0-67] (deep)', async () => {
    await withGate(
      { registry: `${registry}\ngit: {allow_push: true}`, files: { 'a.txt': 'x\n', 'old.txt': `${OTHER}\n` } },
      async ({ repository, ask }) => {
        const remote = `${repository.beside}/remote.git`;
        repository.git('init', '--quiet', '--bare', remote);
        repository.git('remote', 'add', 'origin', remote);
        repository.git('push', '--quiet', 'origin', 'main');
        repository.git('checkout', '--quiet', '-b', 'feature');
        repository.commit({ 'b.txt': 'clean\n' });
        repository.commit({ 'c.txt': 'clean\n' });
        assert.equal((await ask({ verb: 'push', remote: 'origin' })).error, undefined);
        repository.commit({ 'b.txt': `${TOKEN}\n` });
        repository.commit({ 'c.txt': 'still clean\n' });
        assertFound(await ask({ verb: 'push', remote: 'origin' }), /b\.txt:1$/);
      },
    );
  });

  test('works in repositories with long hashes, and answers the same when it remembers a content [S0-67]', async () => {
    await withGate({ registry, files: { 'a.txt': 'x\n' }, objectFormat: 'sha256' }, async (gate) => {
      gate.stage({ 'b.txt': `${TOKEN}\n` });
      const first = await gate.ask();
      assertFound(first, /b\.txt:1$/);
      assert.equal(String(first.error?.details?.['blob']).length, 64);
      gate.stage({ 'b.txt': null, 'c.txt': `${TOKEN}\n`, 'b2/b.txt': `${TOKEN}\n` });
      const violations = (await gate.ask()).error?.details?.['violations'] as { path: string }[];
      assert.deepEqual(violations.map(({ path }) => path).toSorted(), ['b2/b.txt', 'c.txt']);
    });
  });

  test('at warning level the commit goes on, and the warning does not repeat the secret either [S0-72]', async () => {
    await withGate({ registry: inForce('secrets.scan', 'warning'), files: {} }, async (gate) => {
      gate.stage({ 'a.txt': `${TOKEN}\n` });
      const { ok, warnings, text } = await gate.ask();
      assert.equal(ok, true);
      assert.equal(warnings[0]?.details?.['rule'], 'secrets.scan');
      assert.ok(!text.includes(TOKEN));
    });
  });
});
