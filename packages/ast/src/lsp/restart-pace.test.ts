import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { ManualTimers } from '../../test/scratch-servers.ts';
import { RestartPace } from './restart-pace.ts';
import { serverGone } from './server-errors.ts';

const isResting = (thrown: unknown) => isToolError(thrown) && thrown.details['reason'] === 'server_cooldown';

test('a server that keeps ending is started after 0.5, 2 and 8 seconds, then rests five minutes', () => {
  const timers = new ManualTimers();
  const pace = new RestartPace('pyright', timers);
  const end = () => pace.ended(100, serverGone('pyright', 'server_exited', { exit: 3 }));
  assert.equal(pace.pauseMs(), 0);
  for (const pause of [500, 2_000, 8_000]) {
    end();
    assert.equal(pace.pauseMs(), pause);
    timers.pass(pause);
    assert.equal(pace.pauseMs(), 0);
  }
  end();
  assert.throws(() => pace.pauseMs(), isResting);
  timers.pass(299_000);
  assert.throws(
    () => pace.pauseMs(),
    (thrown) =>
      isToolError(thrown) &&
      thrown.details['retry_after_s'] === 1 &&
      thrown.details['last_reason'] === 'server_exited' &&
      thrown.details['exit'] === 3,
  );
  timers.pass(1_000);
  assert.equal(pace.pauseMs(), 0);
  end();
  assert.equal(pace.pauseMs(), 500);
});

test('a server that ran for a while ends for the first time again', () => {
  const timers = new ManualTimers();
  const pace = new RestartPace('pyright', timers);
  const end = (livedMs: number) => pace.ended(livedMs, serverGone('pyright', 'server_exited'));
  end(0);
  end(0);
  assert.equal(pace.pauseMs(), 2_000);
  end(60_000);
  assert.equal(pace.pauseMs(), 500);
});
