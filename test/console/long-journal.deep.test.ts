import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { writeLongJournal } from './long-journal.ts';
import { openBrowser } from './open-browser.ts';
import { openConsoleHost } from './scripted-session.ts';

const RECORDS = 100_000;

describe('a journal of 100,000 records', () => {
  test('scrolls from its newest to its oldest record with a handful of rows in the page', async () => {
    await using host = await openConsoleHost({ prepare: (state) => writeLongJournal(state, RECORDS) });
    await using browser = await openBrowser({ home: host.url });
    const page = await browser.open(host.link());
    await page.getByRole('navigation').waitFor();
    await page.goto(`${host.url}/#/journal?q=session%3Asess-1%2Csess-2%2Csess-3%2Csess-4%2Csess-5%2Csess-6%2Csess-0`);
    await page.getByText(`${RECORDS.toLocaleString('en-US')} records`).waitFor();
    const list = page.getByRole('list', { name: 'Records' });
    for (const share of [0.25, 0.5, 0.75, 1]) {
      await list.evaluate((element, part) => {
        const place = element as unknown as { scrollTop: number; readonly scrollHeight: number };
        place.scrollTop = place.scrollHeight * part;
      }, share);
      while ((await page.locator('.row').count()) < 6 || (await page.locator('.row-loading').count()) > 0) {
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      assert.ok((await page.locator('.row').count()) < 120);
    }
    await page.getByText('path="src/file-0.ts"').waitFor();
    await page.getByRole('button', { name: /^deny/ }).click();
    await page.getByText('10,000 records').or(page.getByText('2,500 records')).waitFor();
    assert.deepEqual(browser.complaints, []);
  });
});
