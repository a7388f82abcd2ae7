/**
 * npm run pictures: the screenshots and the terminal cast of the documentation, from a real host, a real session and a real
 * browser. With a folder as its argument they go there instead.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openBrowser } from '../test/console/open-browser.ts';
import { openConsoleHost, playSession } from '../test/console/scripted-session.ts';
import { recordCast } from './pictures/record-cast.ts';

const folder = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../docs/pictures'));
mkdirSync(folder, { recursive: true });

await using host = await openConsoleHost();
const { asked } = await playSession(host);
host.host.host.history.sample();
const { calls } = await host.client.calls({ tool: 'file_edit' });
const places = {
  timeline: { address: 'timeline', shows: 'file_edit' },
  approvals: { address: 'approvals', shows: 'Allow once' },
  call: { address: `call/${calls[0]?.call_id}`, shows: 'line.price * line.quantity' },
  journal: { address: 'journal', shows: 'records' },
};
for (const [name, { address, shows }] of Object.entries(places)) {
  await using browser = await openBrowser({
    home: host.url,
    width: 1120,
    height: 700,
    theme: name === 'journal' ? 'dark' : 'light',
  });
  const page = await browser.open(host.link());
  await page.getByRole('navigation').waitFor();
  await page.goto(`${host.url}/#/${address}`);
  await page.getByText(shows).first().waitFor();
  await page.getByText('live', { exact: true }).waitFor();
  await page.evaluate('document.fonts.ready');
  writeFileSync(path.join(folder, `${name}.png`), await page.screenshot());
}
const [question] = await host.client.approvals();
if (question !== undefined) await host.client.answerApproval(question.approval_id, { answer: 'approved' });
await asked;
writeFileSync(path.join(folder, 'session.cast'), await recordCast());
process.stdout.write(
  `pictures: ${Object.keys(places).length} screens and a cast in ${path.relative(process.cwd(), folder)}\n`,
);
