import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type BrowserOptions, openBrowser, type TestBrowser } from './open-browser.ts';
import { type ConsoleHost, FILES, openConsoleHost, playSession, REGISTRY } from './scripted-session.ts';

describe('the details of the screens', () => {
  let host: ConsoleHost;
  let asked: Promise<unknown>;
  before(async () => {
    host = await openConsoleHost({
      registry: REGISTRY.replace('shell_allow:\n', () => "shell_allow:\n  - '^cat (colours|long).txt$'\n"),
      files: {
        ...FILES,
        'long.txt': `${'a line of a long output\n'.repeat(10_000)}the very end\n`,
        'colours.txt': '\u001b[31mred words\u001b[0m plain words\n',
      },
    });
    const { session, asked: waiting } = await playSession(host);
    asked = waiting;
    await session.call('shell_exec', { cmd: 'cat colours.txt' });
    await session.call('shell_exec', { cmd: 'cat long.txt' });
    await session.call('shell_exec', { cmd: "rm -rf 'src'" });
  });
  after(async () => {
    for (const { approval_id } of await host.client.approvals())
      await host.client.answerApproval(approval_id, { answer: 'denied' });
    await asked;
    await host[Symbol.asyncDispose]();
  });

  const open = (options: Partial<BrowserOptions> = {}) => openBrowser({ home: host.url, ...options });
  async function visit(browser: TestBrowser, place: string): Promise<Page> {
    const page = await browser.open(host.link());
    await page.getByRole('navigation').waitFor();
    await page.goto(`${host.url}/#/${place}`);
    return page;
  }
  const callOf = async (filter: object): Promise<string> =>
    `call/${(await host.client.calls(filter)).calls[0]?.call_id}`;

  test('an artifact has its name, size and type, and is read page by page', async () => {
    await using browser = await open();
    const page = await visit(browser, await callOf({ tool: 'shell_exec', text: 'long.txt' }));
    const artifact = page.getByRole('region', { name: 'Artifact stdout' });
    await artifact.getByText(/^artifact:[0-9a-f]{32}$/).waitFor();
    await artifact.getByRole('button', { name: 'Open' }).click();
    await artifact.getByText(/^2\d\d\.\d KiB · text · from 0 B to 128\.0 KiB$/).waitFor();
    assert.equal(await artifact.getByRole('button', { name: 'First page' }).count(), 0);
    await artifact.getByRole('button', { name: 'Next page' }).click();
    await artifact.getByText(/ · from 128\.0 KiB to 2\d\d\.\d KiB$/).waitFor();
    assert.equal(await artifact.getByRole('button', { name: 'Next page' }).count(), 0);
    await artifact.getByRole('button', { name: /^Show .* more lines$/ }).click();
    await artifact.getByText('the very end').waitFor();
    assert.equal(await artifact.getByRole('button', { name: 'First page' }).count(), 1);
    assert.equal((await host.client.calls({ tool: 'artifact_read' })).total, 2);
    assert.deepEqual(browser.complaints, []);
  });

  test('a denied call names the line of the registry, is copied with its arguments, and is explained', async () => {
    await using browser = await open();
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: host.url });
    const page = await visit(browser, await callOf({ decision: 'deny', tool: 'shell_exec' }));
    const decision = page.getByRole('region', { name: 'Decision' });
    await decision.getByText(/^tool-runtime\.yaml:\d+$/).waitFor();
    await decision.getByText('sec.shell.allowlist').waitFor();
    const copied: Record<string, string> = {};
    for (const name of ['CLI', 'curl', 'MCP']) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      copied[name] = String(await page.evaluate('navigator.clipboard.readText()'));
      await page.getByRole('button', { name, exact: true }).waitFor();
    }
    // As a shell reads it.
    const words = execFileSync('bash', ['-c', `printf '%s\\n' ${copied['CLI']}`], { encoding: 'utf8' }).split('\n');
    assert.deepEqual(words.slice(0, 4), ['npx', 'tool-runtime', 'call', 'shell_exec']);
    const args = { cmd: "rm -rf 'src'", cwd: '.', timeout_ms: 600_000, allow_network: false };
    assert.deepEqual(JSON.parse(words[4] ?? ''), args);
    assert.match(
      copied['curl'] ?? '',
      /^curl -s 'http:\/\/127\.0\.0\.1:\d+\/v1\/call' .*"tool":"shell_exec","args":\{/,
    );
    const { params } = JSON.parse(copied['MCP'] ?? '') as { params: object };
    assert.deepEqual(params, { name: 'shell_exec', arguments: args });
    await page.getByRole('link', { name: /^Explain/ }).click();
    const verdict = page.locator('.verdict').first();
    await verdict.getByText('deny').first().waitFor();
    await verdict
      .getByText(/tool-runtime\.yaml:\d+/)
      .first()
      .waitFor();
    assert.deepEqual(browser.complaints, []);
  });

  test('what a program printed keeps its colours, and a change is shown as a diff', async () => {
    await using browser = await open();
    const page = await visit(browser, await callOf({ tool: 'shell_exec', text: 'colours' }));
    await page.locator('.ansi-red', { hasText: /^red words$/ }).waitFor();
    await page.goto(`${host.url}/#/${await callOf({ tool: 'file_edit' })}`);
    const files = page.getByRole('region', { name: 'Files' });
    await files.locator('.added', { hasText: 'line.price * line.quantity' }).waitFor();
    await files.locator('.removed', { hasText: 'sum += line.price;' }).waitFor();
  });

  test('a yes for the session answers the next question of its kind too', async () => {
    const session = await host.openSession('tidy');
    const first = session.call('fs_delete', { path: 'src/tax.js' });
    await using browser = await open();
    const page = await visit(browser, 'approvals');
    const question = page.getByRole('article', { name: /tax\.js/ });
    await question.getByText(/asked .* ago · .* left/).waitFor();
    await question.getByRole('button', { name: 'Allow for this session' }).click();
    assert.equal((await first).ok, true);
    await session.call('file_write', { path: 'src/tax.js', content: 'export {};\n' });
    assert.equal((await session.call('fs_delete', { path: 'src/tax.js' })).ok, true);
  });

  test('the journal exports CSV and SARIF of what is filtered, its brush narrows the time, archives can be added', async () => {
    await using browser = await open();
    const page = await visit(browser, 'journal?q=decision%3Adeny');
    const { total } = await host.client.records({ decision: 'deny' });
    await page.getByText(`${total} records`).waitFor();
    const save = async (format: string): Promise<string> => {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: format }).click();
      return readFileSync(await (await download).path(), 'utf8');
    };
    assert.equal((await save('CSV')).trim().split('\r\n').length, total + 1);
    const sarif = JSON.parse(await save('SARIF')) as { runs: { results: { level: string }[] }[] };
    assert.deepEqual(
      sarif.runs[0]?.results.map(({ level }) => level),
      new Array(total).fill('error'),
    );
    await page.goto(`${host.url}/#/journal`);
    const bars = page.locator('.brush-bars');
    await bars.waitFor();
    const box = await bars.boundingBox();
    assert.ok(box !== null);
    await page.mouse.move(box.x + 2, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 4, box.y + 10, { steps: 3 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'All times' }).waitFor();
    const query = new URLSearchParams(page.url().split('?')[1]);
    const narrowed = await host.client.records({ from: Number(query.get('from')), to: Number(query.get('to')) });
    assert.ok(narrowed.total < (await host.client.records()).total);
    await page.getByText(`${narrowed.total} records`).waitFor();
    await page.getByLabel('with archives').check();
    await page.getByText(`${narrowed.total} records`).waitFor();
    assert.match(page.url(), /archived=true/);
    assert.deepEqual(browser.complaints, []);
  });

  test('a family shows what a child was stripped of and how much of its budget is spent', async () => {
    await using browser = await open();
    const page = await visit(browser, 'family?with=children');
    const child = page.locator('.member', { hasText: 'reviewer' }).last();
    await child
      .getByText(/^\d+ of 20 calls$/)
      .first()
      .waitFor();
    await child.getByText(/^\d+ stripped$/).click();
    await child.locator('.chip.bad', { hasText: 'file_write' }).first().waitFor();
    await page
      .getByText(/ of 5,000 calls/)
      .first()
      .waitFor();
  });

  test('times are local, or UTC on request, and a tooltip has both', async () => {
    await using browser = await open({ timezone: 'Asia/Tokyo' });
    const page = await visit(browser, 'timeline');
    const time = page.locator('.calls time').first();
    await time.waitFor();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    const shown = (hours: number): string => new Date(at.getTime() + hours * 3_600_000).toISOString().slice(11, 19);
    assert.equal(await time.textContent(), shown(9));
    assert.match((await time.getAttribute('title')) ?? '', /local · .*Z$/);
    await page.getByRole('button', { name: 'UTC' }).click();
    await page
      .locator('.calls time', { hasText: shown(0) })
      .first()
      .waitFor();
    await page.reload();
    await page
      .locator('.calls time', { hasText: shown(0) })
      .first()
      .waitFor();
  });
});
