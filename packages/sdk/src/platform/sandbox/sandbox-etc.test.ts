import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { prepareEtc } from './sandbox-etc.ts';

const INHABITANT = { uid: 1000, gid: 1000, home: '/run/home' };

test('the sandbox has of /etc what programs need and everyone may read [S0-36]', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'wall-etc-'));
  t.after(() => rmSync(root, { recursive: true }));
  const [etc, parent] = [join(root, 'etc'), join(root, 'wall')];
  for (const folder of [parent, join(etc, 'ssl/certs/private')]) mkdirSync(folder, { recursive: true });
  for (const name of [
    'services',
    'shadow',
    'ssl/certs/open.pem',
    'ssl/certs/closed.pem',
    'ssl/certs/private/key.pem',
  ]) {
    writeFileSync(join(etc, name), name);
  }
  chmodSync(join(etc, 'ssl/certs/closed.pem'), 0o600);
  chmodSync(join(etc, 'ssl/certs/private'), 0o700);
  symlinkSync('/usr/share/zoneinfo/UTC', join(etc, 'localtime'));
  const made = await prepareEtc(parent, INHABITANT, etc);
  assert.deepEqual(readdirSync(made).sort(), [
    'group',
    'hosts',
    'localtime',
    'nsswitch.conf',
    'passwd',
    'services',
    'ssl',
  ]);
  assert.deepEqual(readdirSync(join(made, 'ssl/certs')), ['open.pem']);
  assert.match(readFileSync(join(made, 'passwd'), 'utf8'), /^sandbox:x:1000:1000::\/run\/home:/);
  assert.equal(await prepareEtc(parent, INHABITANT, etc), made);
  writeFileSync(join(etc, 'services'), 'changed meanwhile');
  assert.notEqual(await prepareEtc(parent, INHABITANT, etc), made);
});
