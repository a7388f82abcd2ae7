import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import * as routes from '../../packages/host/src/http/routes/catalog.ts';
import { openHost, TOKENS } from '../../packages/host/test/open-host.ts';
import { eventually } from '../../packages/host/test/wire/within.ts';
import { httpPage } from './http-page.ts';

const page = httpPage(Object.values(routes));

test('the page names every route with its scope', () => {
  for (const { method, path, scope } of Object.values(routes)) {
    assert.match(
      page,
      new RegExp(`^\\| \`${method.toUpperCase()} ${path.replaceAll(/[{}.]/g, '\\$&')}\` \\| \\*?${scope}\\*? \\|`, 'm'),
    );
  }
});

test('its commands work as they stand', async () => {
  await using host = await openHost();
  const [open = '', call = '', watch = ''] = Array.from(
    page.matchAll(/```sh\n(.*?)\n```/gs),
    (match) => match[1] ?? '',
  );
  const run = (command: string, session: string): Promise<string> => {
    const env = { ...process.env, URL: host.url, TOKEN: TOKENS.operator, SESSION: session };
    return text(spawn('bash', ['-c', command], { env, stdio: ['ignore', 'pipe', 'inherit'] }).stdout);
  };
  const { session_id: session } = JSON.parse(await run(open, ''));
  const watched = run(watch, session);
  const served = host.host.session({ id: '', name: '', scopes: new Set(['admin']) }, session).served;
  await eventually(() => served.listeners > 0, 'the stream to be open');
  const answer = JSON.parse(await run(call, session));
  assert.deepEqual([answer.type, answer.ok, answer.request_id], ['ToolResponse', true, 'r1']);
  await host.request(`/v1/sessions/${session}`, { method: 'DELETE' });
  assert.match(await watched, /"event":"CallStatusChanged"[\s\S]*"event":"SessionEnded"/);
});
