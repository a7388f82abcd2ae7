/** A folder that a request names and that cannot be worked in is a mistake in the request, not a failure of the host. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ErrorMessage, SessionOpened } from '@tool-runtime/protocol';
import { openHost } from './open-host.ts';

test('sessions and children in folders that do not exist are refused with 4xx, others open', async () => {
  await using host = await openHost();
  mkdirSync(join(host.workspace, 'sub'));
  symlinkSync('loop', join(host.workspace, 'loop'));
  symlinkSync('/', join(host.workspace, 'outside'));
  const opened = (await (await host.request('/v1/sessions', { body: {} })).json()) as SessionOpened;
  const routes = {
    [`/v1/sessions/${opened.session_id}/children`]: (folder: string) => ({ agent_id: 'a', folder }),
    '/v1/call': (folder: string) => ({
      type: 'ChildOpen',
      request_id: `open ${folder}`.slice(0, 60),
      session_id: opened.session_id,
      agent_id: 'a',
      folder,
    }),
  };
  for (const [path, bodyOf] of Object.entries(routes)) {
    for (const folder of [
      'none',
      'hello.txt',
      'hello.txt/x',
      'loop',
      'outside',
      '../..',
      '',
      'a\0b',
      'x/'.repeat(3000),
      'n'.repeat(300),
    ]) {
      const answer = await host.request(path, { body: bodyOf(folder) });
      const { code, message } = (await answer.json()) as ErrorMessage;
      assert.ok(
        answer.status >= 400 && answer.status < 500,
        `${path} ${JSON.stringify(folder.slice(0, 20))}: ${answer.status} ${code} ${message}`,
      );
      assert.notEqual(code, 'E_INTERNAL');
    }
    const answer = await host.request(path, { body: bodyOf('sub') });
    const text = await answer.text();
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${text}`);
  }
});
