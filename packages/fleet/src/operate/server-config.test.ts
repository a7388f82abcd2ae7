import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowLists, serverConfig } from './server-config.ts';

test('every server syncs what it acknowledges', () => {
  const text = serverConfig({
    name: 'n1',
    folder: 'store',
    port: 4222,
    clusterPort: 6222,
    routes: [6222, 6223, 6224],
    tenant: 'main',
    users: [],
  });
  assert.match(text, /^ {2}sync_interval: always$/m);
  assert.match(text, /routes: \["nats:\/\/127\.0\.0\.1:6222", /);
});

test('a client speaks under its own name, to its workspaces, and hears its own inbox', () => {
  const { publish, subscribe } = allowLists({ user: 'ci.bot', kind: 'client', workspaces: ['shop', 'x.y'] }, 'main');
  assert.deepEqual(publish, ['trt.main.ws.shop.b64_Y2kuYm90.>', 'trt.main.ws.b64_eC55.b64_Y2kuYm90.>']);
  assert.deepEqual(subscribe, ['_INBOX.b64_Y2kuYm90.>']);
});

test('a host ships under its own name only, and reads no inbox but its own', () => {
  const { publish, subscribe } = allowLists({ user: 'a', kind: 'host' }, 'main');
  const asked = publish.filter((subject) => subject.startsWith('$JS.API.'));
  const wild = asked.filter((subject) => /[*>]$/.test(subject) && !subject.includes('.OBJ_artifacts.'));
  assert.deepEqual(wild, ['$JS.API.STREAM.INFO.*', '$JS.API.STREAM.MSG.GET.*']);
  assert.ok(publish.includes('r.main.a.>') && !publish.includes('r.main.>') && !publish.includes('>'));
  assert.deepEqual(subscribe, [
    '_INBOX.a.>',
    'trt.main.ws.>',
    'ctl.main.a.>',
    'free.main.*',
    'trt.main.gw.>',
    'apr.main.>',
  ]);
});
