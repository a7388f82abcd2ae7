import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from './open-browser.ts';
import { type ConsoleHost, openConsoleHost, playSession } from './scripted-session.ts';
import { seriousFindings } from './serious-findings.ts';

const SCREENS = ['Timeline', 'Approvals', 'Journal', 'Metrics', 'Tools', 'Policy', 'Family'] as const;

describe('the screens of the console, with real calls behind them', () => {
  let host: ConsoleHost;
  let asked: Promise<unknown>;
  before(async () => {
    host = await openConsoleHost();
    ({ asked } = await playSession(host));
    host.host.host.history.sample();
  });
  after(async () => {
    for (const { approval_id } of await host.client.approvals())
      await host.client.answerApproval(approval_id, { answer: 'denied' });
    await asked;
    await host[Symbol.asyncDispose]();
  });

  async function signIn(browser: TestBrowser, role: 'viewer' | 'approver' = 'approver'): Promise<Page> {
    const page = await browser.open(host.link(role));
    await page.getByRole('navigation').waitFor();
    return page;
  }

  for (const theme of ['light', 'dark'] as const) {
    test(`every screen is reached by its name and has no serious finding of axe, ${theme}`, async () => {
      await using browser = await openBrowser({ home: host.url, theme });
      const page = await signIn(browser);
      const { calls } = await host.client.calls({ tool: 'file_edit' });
      const shown: Record<(typeof SCREENS)[number], RegExp> = {
        Timeline: /file_edit/,
        Approvals: /notes\/old\.txt/,
        Journal: /records/,
        Metrics: /By tool/,
        Tools: /file_edit/,
        Policy: /budgets\.max_calls/,
        Family: /reviewer/,
      };
      for (const name of SCREENS) {
        await page.getByRole('navigation').getByRole('link', { name }).click();
        await page.getByRole('heading', { level: 1, name }).waitFor();
        await page.getByText(shown[name]).first().waitFor();
        assert.deepEqual(await seriousFindings(page), [], name);
      }
      await page.goto(`${host.url}/#/call/${calls[0]?.call_id}`);
      await page.getByText('line.price * line.quantity').first().waitFor();
      assert.deepEqual(await seriousFindings(page), [], 'Call');
      await page.goto(`${host.url}/#/tools?tool=fs_list`);
      await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
      assert.deepEqual(await seriousFindings(page), [], 'Tools, one chosen');
      assert.deepEqual(browser.complaints, []);
    });
  }

  test('at 360 pixels nothing is wider than the screen', async () => {
    await using browser = await openBrowser({ home: host.url, width: 360, height: 740 });
    const page = await signIn(browser);
    for (const name of SCREENS) {
      await page.getByRole('navigation').getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, name);
    }
  });

  test('a filter narrows the timeline, is in the address, and survives a reload', async () => {
    await using browser = await openBrowser({ home: host.url });
    const page = await signIn(browser);
    await page.keyboard.press('/');
    await page.keyboard.type('decision:deny session:x');
    await page.keyboard.press('Enter');
    await page.getByText('No call matches').waitFor();
    await page.getByRole('searchbox').fill('decision:deny passwd');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '1 calls' }).waitFor();
    assert.match(page.url(), /q=decision%3Adeny\+passwd/);
    await page.reload();
    await page.getByRole('heading', { name: '1 calls' }).waitFor();
  });

  test('the timeline zooms by button and by drag, shows stages in wide bars, and keeps the zoom in the address', async () => {
    await using browser = await openBrowser({ home: host.url });
    const page = await signIn(browser);
    const running = page.getByRole('link', { name: /^fs_delete .*asks a person .*running/ });
    await running.first().waitFor();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    const test = page.locator('.lanes a.bar', { hasText: 'shell_exec' }).or(page.locator('a.bar[title^=shell_exec]'));
    const bar = await test.first().boundingBox();
    const track = await page.locator('.track').first().boundingBox();
    assert.ok(bar !== null && track !== null);
    // From a little before the call to a little after it.
    await page.mouse.move(Math.max(track.x + 1, bar.x - 12), bar.y + 8);
    await page.mouse.down();
    await page.mouse.move(bar.x + bar.width + 12, bar.y + 8, { steps: 4 });
    await page.mouse.up();
    await page
      .locator('.bar .stage.run', { hasText: /runs \d/ })
      .first()
      .waitFor();
    await page.locator('.bar .stage.gates').first().waitFor({ state: 'attached' });
    assert.match(page.url(), /#\/timeline\?.*zoom=\d+-\d+/);
    assert.deepEqual(await seriousFindings(page), []);
    await page.reload();
    await page.locator('.bar .stage.run').first().waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.getByRole('heading', { name: /^\d+ calls/ }).waitFor();
    assert.deepEqual(browser.complaints, []);
  });

  test('the keyboard alone finds a call, its decision and its place in the chain', async () => {
    await using browser = await openBrowser({ home: host.url });
    const page = await signIn(browser);
    await page.getByRole('heading', { level: 2, name: /calls/ }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('tool:file_read decision:deny');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '1 calls' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'file_read' }).waitFor();
    await page.getByText('Path is not inside the workspace').first().waitFor();
    const verify = page.getByRole('button', { name: 'Verify' });
    await verify.focus();
    await page.keyboard.press('Enter');
    await page.getByText(/in an unbroken chain/).waitFor();
  });

  test('facets, brush and export of the journal are about what is filtered', async () => {
    await using browser = await openBrowser({ home: host.url });
    const page = await signIn(browser);
    await page.goto(`${host.url}/#/journal?q=kind%3Adecision+decision%3Adeny`);
    const { total } = await host.client.records({ kind: 'decision', decision: 'deny' });
    await page.getByText(`${total} records`).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'JSONL' }).click();
    const text = readFileSync(await (await download).path(), 'utf8');
    assert.equal(text.trim().split('\n').length, total);
    await page.getByRole('button', { name: /^ask/ }).click();
    await page.getByText(`${total + 1} records`).waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^whole:/).waitFor();
  });

  test('a tool is tried under the same policy, and the call is in the journal', async () => {
    await using browser = await openBrowser({ home: host.url });
    const page = await signIn(browser);
    await page.goto(`${host.url}/#/tools?tool=file_read`);
    await page.getByLabel(/^path/).fill('README.md');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Invoices and taxes').waitFor();
    await page.getByLabel(/^path/).fill('../outside');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText(/E_POLICY/).waitFor();
    const { calls } = await host.client.calls({ client: 'console' });
    assert.deepEqual(
      calls.map(({ status }) => status),
      ['denied_before_execution', 'completed'],
    );
  });

  test('the tester of the policy says what every gate would, and what another registry would say instead', async () => {
    await using browser = await openBrowser({ home: host.url });
    const page = await signIn(browser);
    await page.goto(`${host.url}/#/policy`);
    await page.getByLabel('Tool').fill('file_read');
    await page.getByLabel('Arguments, JSON').fill('{ "path": "README.md" }');
    await page.getByLabel(/Another registry/).fill('version: 1\nallowed_tools: [grep]\n');
    await page.getByRole('button', { name: 'Ask the gates' }).click();
    await page.getByText('under the registry in force').waitFor();
    const verdicts = page.locator('.verdict');
    await verdicts.nth(1).waitFor();
    assert.match((await verdicts.nth(0).textContent()) ?? '', /^under the registry in forceallow/);
    assert.match((await verdicts.nth(1).textContent()) ?? '', /^under the other registrydeny/);
  });

  test('a viewer sees everything and is offered no answers', async () => {
    await using browser = await openBrowser({ home: host.url });
    const page = await signIn(browser, 'viewer');
    await page.getByRole('navigation').getByRole('link', { name: 'Approvals' }).click();
    await page.getByText('You are signed in as a viewer').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Allow once' }).count(), 0);
    const [question] = await host.client.approvals();
    const status = await page.evaluate(
      `fetch('/v1/approvals/${question?.approval_id}', { method: 'POST', body: '{"answer":"approved"}',
        headers: { 'x-console-key': localStorage.getItem('console-key') } }).then((answer) => answer.status)`,
    );
    assert.equal(status, 403);
    assert.equal((await host.client.approvals()).length, 1);
  });
});
