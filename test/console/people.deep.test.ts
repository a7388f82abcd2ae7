import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../../packages/host/test/wire/within.ts';
import { openCutLink } from './cut-link.ts';
import { openBrowser, type TestBrowser } from './open-browser.ts';
import { type ConsoleHost, openConsoleHost, type Session } from './scripted-session.ts';

async function enter(browser: TestBrowser, host: ConsoleHost, screen = 'Approvals'): Promise<Page> {
  const page = await browser.open(host.link());
  await page.getByRole('navigation').getByRole('link', { name: screen }).click();
  return page;
}

function ask(session: Session, path: string) {
  return session.call('fs_delete', { path });
}

describe('people at the console', () => {
  test('two browsers answer at once: one wins, the other is told who was faster', async () => {
    await using host = await openConsoleHost();
    await using first = await openBrowser({ home: host.url });
    await using second = await openBrowser({ home: host.url });
    const [one, other] = await Promise.all([enter(first, host), enter(second, host)]);
    const session = await host.openSession('agent');
    for (const path of ['README.md', 'src/tax.js']) {
      const call = ask(session, path);
      const [allow, deny] = [
        one.getByRole('button', { name: 'Allow once' }),
        other.getByRole('button', { name: 'Deny' }),
      ];
      await Promise.all([allow.waitFor(), deny.waitFor()]);
      await other.getByLabel('Reason').fill('keep it');
      // Pressed in the pages themselves: a question that is gone a moment later was still answered here.
      const buttons = await Promise.all([allow.elementHandle(), deny.elementHandle()]);
      await Promise.all(buttons.map((button) => button?.dispatchEvent('click')));
      const { ok, errors } = await call;
      const [winner, loser] = ok ? [one, other] : [other, one];
      await winner
        .getByText(ok ? 'you allowed it' : 'you denied it')
        .first()
        .waitFor();
      await loser
        .getByText(/^Too late: .*answered already, by operator\/console-/)
        .first()
        .waitFor();
      if (!ok) assert.match(JSON.stringify(errors), /keep it/);
      await Promise.all([one, other].map((page) => page.getByText('Nothing waits for an answer').waitFor()));
    }
  });

  test('a reload and a host that comes back in the middle of a call lose nothing', async () => {
    await using host = await openConsoleHost();
    await using link = await openCutLink();
    await using browser = await openBrowser({ home: host.url, proxy: link.proxy });
    const page = await enter(browser, host);
    const session = await host.openSession('agent');
    const call = ask(session, 'README.md');
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    link.cut();
    await page.getByText('live', { exact: true }).waitFor({ state: 'detached' });
    const late = ask(session, 'src/tax.js');
    await eventually(async () => (await host.client.approvals()).length === 2, 'two questions');
    assert.equal(await page.getByRole('button', { name: 'Allow once' }).count(), 1);
    link.heal();
    await eventually(
      async () => (await page.getByRole('button', { name: 'Allow once' }).count()) === 2,
      'two questions on the page',
    );
    for (const left of [1, 0]) {
      await page.getByRole('button', { name: 'Allow once' }).first().click();
      await eventually(
        async () => (await page.getByRole('button', { name: 'Allow once' }).count()) === left,
        'answered questions gone',
      );
    }
    assert.deepEqual([(await call).ok, (await late).ok], [true, true]);
  });

  test('more pages than a browser has connections follow the host together, also when the first one is closed', async () => {
    await using host = await openConsoleHost();
    await using browser = await openBrowser({ home: host.url });
    const first = await enter(browser, host);
    await first.getByText('live', { exact: true }).waitFor();
    const pages = [];
    for (let at = 0; at < 8; at += 1) pages.push(await browser.open(`${host.url}/#/approvals`));
    for (const page of pages) await page.getByText('live', { exact: true }).waitFor();
    const session = await host.openSession('agent');
    const call = ask(session, 'README.md');
    for (const page of pages) await page.getByRole('button', { name: 'Allow once' }).waitFor();
    await first.close();
    const later = ask(session, 'src/tax.js');
    for (const page of pages) {
      await eventually(
        async () => (await page.getByRole('button', { name: 'Allow once' }).count()) === 2,
        'two questions on the page',
      );
    }
    for (const { approval_id } of await host.client.approvals()) {
      await host.client.answerApproval(approval_id, { answer: 'denied' });
    }
    await Promise.all([call, later]);
    for (const page of pages) await page.getByText('Nothing waits for an answer').waitFor();
  });

  test('a used or made-up code leads to a page that says what to do, and a sign-out ends it all', async () => {
    await using host = await openConsoleHost();
    await using browser = await openBrowser({ home: host.url });
    const link = host.link();
    const page = await browser.open(link);
    await page.getByRole('navigation').waitFor();
    assert.doesNotMatch(page.url(), /code=/);
    await using other = await openBrowser({ home: host.url });
    for (const used of [link, `${host.url}/#code=made-up`]) {
      const late = await other.open(used);
      await late.getByText('Code is not valid').waitFor();
      await late.getByText('npx tool-runtime console', { exact: true }).waitFor();
    }
    const [cookie] = await browser.context.cookies();
    assert.equal(cookie?.httpOnly, true);
    assert.equal(cookie?.sameSite, 'Strict');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are not signed in').waitFor();
    await page.reload();
    await page.getByText('You are not signed in').waitFor();
  });

  test('a page of another origin on this machine cannot use the cookie that the browser sends along', async () => {
    await using host = await openConsoleHost();
    const seen: string[] = [];
    const server = createServer((incoming, outgoing) => {
      seen.push(incoming.headers.cookie ?? '');
      outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>other</title>');
    }).listen(0, '127.0.0.1');
    try {
      await using browser = await openBrowser({ home: host.url });
      await enter(browser, host);
      const evil = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const page = await browser.open(evil);
      const tries = (await page.evaluate(`Promise.all([
        fetch('${host.url}/v1/status', { credentials: 'include' }),
        fetch('${host.url}/v1/sessions', { method: 'POST', credentials: 'include', body: '{}' }),
        fetch('${host.url}/v1/sessions', { method: 'POST', credentials: 'include', body: '{}', mode: 'no-cors' }),
      ].map((answer) => answer.then((one) => one.status, () => 'blocked')))`)) as unknown[];
      assert.deepEqual(tries, ['blocked', 'blocked', 0]);
      assert.equal((await host.client.sessions()).length, 0);
      // The server there has the cookie now: cookies do not know ports. Without the key of the page it is worth nothing.
      const cookie = seen.find((text) => text.includes('tool_runtime_console_')) ?? '';
      assert.notEqual(cookie, '');
      const stolen = await fetch(`${host.url}/v1/status`, { headers: { cookie } });
      assert.equal(stolen.status, 401);
    } finally {
      server.close();
    }
  });
});
