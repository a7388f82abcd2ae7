import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMember } from '../../packages/host/test/fleet-member.ts';
import { createHostClient } from '../../packages/protocol/src/client/host-client.ts';
import { openBrowser } from './open-browser.ts';
import { openConsoleHost } from './scripted-session.ts';
import { seriousFindings } from './serious-findings.ts';

test('the console of a host in a fleet shows hosts, servers and streams, and what is wrong with them', async (t) => {
  const { running } = await openMember(t);
  const url = running.url ?? '';
  const { path } = await createHostClient({ url, token: running.token ?? '' }).consoleLink({ role: 'viewer' });
  await using browser = await openBrowser({ home: url });
  const page = await browser.open(`${url}${path}`);
  await page.getByRole('navigation').getByRole('link', { name: 'Fleet' }).click();
  const hosts = page.getByRole('region', { name: 'Hosts', exact: true });
  await hosts.getByRole('row', { name: /^a \(this one\) z1 one one, two 3/ }).waitFor();
  await hosts.getByRole('row', { name: /^<b> z2 nothing two 0/ }).waitFor();
  const servers = page.getByRole('region', { name: 'Servers that answer' });
  await servers.getByRole('row', { name: /^n1 127\.0\.0\.1:4222 2\.15\.1 on disk before an answer 7/ }).waitFor();
  await servers.getByRole('row', { name: /^n2 .* not synced elsewhere/ }).waitFor();
  const streams = page.getByRole('region', { name: 'Streams' });
  await streams.getByRole('row', { name: /^JOURNAL n1 behind: n3 12/ }).waitFor();
  await streams.getByRole('row', { name: /^RECORDS none 3 unknown/ }).waitFor();
  await page.getByRole('alert').getByText('KV_HOSTS').waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  assert.deepEqual(browser.complaints, []);
});

test('the console of a host alone has no such page', async () => {
  await using host = await openConsoleHost();
  await using browser = await openBrowser({ home: host.url });
  const page = await browser.open(host.link());
  await page.getByRole('navigation').getByRole('link', { name: 'Family' }).waitFor();
  assert.equal(await page.getByRole('navigation').getByRole('link', { name: 'Fleet' }).count(), 0);
});
