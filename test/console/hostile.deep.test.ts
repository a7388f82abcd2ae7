import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openBrowser } from './open-browser.ts';
import { openConsoleHost } from './scripted-session.ts';

const SCRIPT = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
const BIDI = 'safe\u202etxt.exe';
const ANSI = '\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007 \u001b[2J';

describe('hostile content on the screens', () => {
  test('markup, marks that turn text, terminal commands and lines of 10 MB are text, run nothing and hang nothing', async () => {
    const long = 'x'.repeat(10 * 1024 * 1024);
    await using host = await openConsoleHost({
      registry: `version: 1
shell_allow: ['^cat loud.txt$']
approvals: { auto_approve: ['*'], require_approval: [fs_delete, file_edit] }
limits: { approval_timeout_ms: 600000, max_request_bytes: 33554432 }
`,
      files: {
        [`${BIDI}`]: SCRIPT,
        'loud.txt': `${ANSI}\n${SCRIPT}\n${BIDI}\n${long}\n`,
        'small.txt': 'old\n',
        'markup.txt': `${SCRIPT}\n${BIDI}\n${long}\n`,
      },
    });
    const session = await host.openSession('<b>agent</b>');
    const written = await session.call('file_write', {
      path: `${'<i>'.repeat(10)}.txt`,
      content: `${SCRIPT}\n${ANSI}\n${long}`,
    });
    assert.equal(written.ok, true, JSON.stringify(written.errors));
    await session.call('file_read', { path: BIDI });
    await session.call('file_read', { path: `${SCRIPT}/none` });
    await session.call('file_read', { path: `${SCRIPT}${long}` });
    await session.call('grep', { pattern: `${BIDI}${long}` });
    await session.call('shell_exec', { cmd: 'cat loud.txt' });
    await session.call('<script>', { x: SCRIPT });
    const asked = session.call('fs_delete', { path: 'markup.txt' });
    const other = session.call('file_edit', { path: 'small.txt', old: 'old', new: `${SCRIPT}\n${long}` });
    while ((await host.client.approvals()).length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
    await using browser = await openBrowser({ home: host.url });
    const page = await browser.open(host.link());
    await page.getByRole('navigation').waitFor();
    const { calls } = await host.client.calls({ limit: 50 });
    const places = [
      'timeline',
      'approvals',
      'journal',
      'family',
      'metrics',
      'policy',
      ...calls.map(({ call_id }) => `call/${call_id}`),
    ];
    for (const place of places) {
      await page.goto(`${host.url}/#/${place}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      assert.equal(await page.evaluate('window.hit ?? 0'), 0, place);
      const text = (await page.evaluate('document.body.innerText')) as string;
      assert.doesNotMatch(text, /[\u001b\u202a-\u202e\u2066-\u2069]/, place);
      assert.ok(text.length < 1_000_000, `${place}: ${text.length} characters`);
    }
    await page.goto(`${host.url}/#/approvals`);
    await page.getByText('onerror').first().waitFor();
    await page.getByText(String.raw`safe\u202etxt.exe`).first().waitFor();
    const answered = Promise.all([asked, other]);
    for (const left of [1, 0]) {
      await page.getByRole('button', { name: 'Allow once' }).first().click();
      while ((await page.locator('.question').count()) !== left)
        await new Promise((resolve) => setTimeout(resolve, 25));
    }
    assert.deepEqual(
      (await answered).map(({ ok }) => ok),
      [true, true],
    );
    assert.deepEqual(browser.complaints, []);
  });
});
