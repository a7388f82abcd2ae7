/**
 * npm run pictures: the screenshots and the terminal cast of the documentation, from a real host, a real session and a real
 * browser. With a folder as its argument they go there instead.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openBrowser } from '../test/console/open-browser.ts';
import { FILES, openConsoleHost, playSession, REGISTRY } from '../test/console/scripted-session.ts';
import { recordCast } from './pictures/record-cast.ts';

const folder = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../docs/pictures'));
mkdirSync(folder, { recursive: true });

/** A mounted server with one tool approved and one that waits. */
const server = path.join(import.meta.dirname, '../packages/host/test/mcp/servers/told-server.mjs');
const rates = { name: 'exchange_rate', description: 'The rate of a currency on a day' };
const tools = [rates, { name: 'vat_number', description: 'Checks a VAT number against the register' }];
await using host = await openConsoleHost({
  registry: `${REGISTRY}mcp_servers:
  finance: { command: [node, mcp/finance.mjs, mcp/tools.json], tools: ['*'] }
`,
  files: { ...FILES, 'mcp/finance.mjs': readFileSync(server, 'utf8'), 'mcp/tools.json': JSON.stringify([rates]) },
});
const [rate] = (await host.client.refreshMcpServer('finance')).waiting;
if (rate === undefined) throw new TypeError('The mounted server lists no tools');
await host.client.approveTools('finance', { tools: [{ tool: rate.tool, digest: rate.digest }] });
writeFileSync(path.join(host.workspace, 'mcp/tools.json'), JSON.stringify(tools));
await host.client.refreshMcpServer('finance');

const { asked } = await playSession(host);
host.host.host.history.sample();
const { calls } = await host.client.calls({ tool: 'file_edit' });
interface Place {
  readonly address: string;
  readonly shows: string;
  /** A button to press before the picture is taken. */
  readonly press?: string;
}

const places: Readonly<Record<string, Place>> = {
  timeline: { address: 'timeline', shows: 'file_edit' },
  approvals: { address: 'approvals', shows: 'Allow once' },
  call: { address: `call/${calls[0]?.call_id}`, shows: 'line.price * line.quantity' },
  journal: { address: 'journal', shows: 'records' },
  tools: { address: 'tools?tool=file_edit', shows: 'Review 1 waiting', press: 'Review 1 waiting' },
};
for (const [name, { address, shows, press }] of Object.entries(places)) {
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
  if (press !== undefined) {
    await page.getByRole('button', { name: press }).click();
    await page.getByRole('button', { name: 'Approve this definition' }).waitFor();
  }
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
