/** What reaches people who are not looking at the page, and what a page says that missed something. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../../packages/host/test/wire/within.ts';
import { openCutLink } from './cut-link.ts';
import { openBrowser } from './open-browser.ts';
import { openConsoleHost } from './scripted-session.ts';

/** Counts the sounds that the page begins. */
const COUNT_SOUNDS = `
  window.sounds = 0;
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...when) {
    window.sounds += 1;
    return start.apply(this, when);
  };
`;
/** Each is at least two events: together more than the host keeps for pages that come back. */
const QUESTIONS = 2200;
const AT_ONCE = 100;

const shows = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name }).click();
const listed = (page: Page, tool: string) => page.locator('a.call').filter({ hasText: tool });

describe('the attention of people', () => {
  test('a question is counted in the title, and heard only where the sound was turned on', async () => {
    await using host = await openConsoleHost();
    await using browser = await openBrowser({ home: host.url });
    await browser.context.addInitScript(COUNT_SOUNDS);
    const page = await browser.open(host.link());
    await shows(page, 'Approvals');
    const sound = page.getByRole('checkbox', { name: 'Sound' });
    assert.equal(await sound.isChecked(), false);
    const session = await host.openSession('agent');
    for (const [path, heard] of [
      ['README.md', 0],
      ['src/tax.js', 1],
    ] as const) {
      if (heard > 0) await sound.check();
      const call = session.call('fs_delete', { path });
      await eventually(async () => (await page.title()) === '(1) Console', 'a title that counts the question');
      await page.getByRole('button', { name: 'Deny' }).waitFor();
      assert.equal(await page.evaluate('sounds'), heard);
      await page.getByRole('button', { name: 'Deny' }).click();
      assert.equal((await call).ok, false);
      await eventually(async () => (await page.title()) === 'Console', 'a title without a count');
    }
    await page.reload();
    assert.equal(await sound.isChecked(), true);
    assert.deepEqual(browser.complaints, []);
  });

  test('a paused timeline stands still while another goes on, and shows everything when it is resumed', async () => {
    await using host = await openConsoleHost();
    await using browser = await openBrowser({ home: host.url });
    const paused = await browser.open(host.link());
    await shows(paused, 'Timeline');
    const session = await host.openSession('agent');
    await session.call('file_read', { path: 'README.md' });
    await listed(paused, 'file_read').waitFor();
    await paused.getByRole('button', { name: 'Pause' }).click();
    const live = await browser.open(`${host.url}/#/timeline`);
    await listed(live, 'file_read').waitFor();
    await session.call('grep', { pattern: 'total' });
    await listed(live, 'grep').waitFor();
    assert.equal(await listed(paused, 'grep').count(), 0);
    await paused.getByRole('button', { name: 'Resume' }).click();
    await listed(paused, 'grep').waitFor();
    assert.deepEqual(browser.complaints, []);
  });

  test('a page that was away for longer than events are kept says so, and its list is complete', async () => {
    await using host = await openConsoleHost();
    await using link = await openCutLink();
    await using browser = await openBrowser({ home: host.url, proxy: link.proxy });
    const page = await browser.open(host.link());
    await shows(page, 'Timeline');
    await page.getByText('live', { exact: true }).waitFor();
    const session = await host.openSession('agent');
    await session.call('file_read', { path: 'README.md' });
    await listed(page, 'file_read').waitFor();
    assert.equal(await page.getByText('events missed').count(), 0);
    link.cut();
    await page.getByText('live', { exact: true }).waitFor({ state: 'detached' });
    for (let asked = 0; asked < QUESTIONS; asked += AT_ONCE) {
      const calls = Array.from({ length: AT_ONCE }, () => session.call('fs_delete', { path: 'README.md' }));
      await eventually(async () => (await host.client.approvals()).length === AT_ONCE, 'all questions');
      for (const { approval_id } of await host.client.approvals()) {
        await host.client.answerApproval(approval_id, { answer: 'denied' });
      }
      await Promise.all(calls);
    }
    await session.call('grep', { pattern: 'total' });
    link.heal();
    await page.getByText('events missed', { exact: true }).waitFor();
    await listed(page, 'grep').waitFor();
  });
});
