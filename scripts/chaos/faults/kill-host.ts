/** The host dies without warning. */
import { setTimeout as pause } from 'node:timers/promises';
import { between, type Fault } from './fault.ts';

export const killHost: Fault = {
  name: 'kill-host',
  scope: 'host',
  isDeadly: true,
  weight: 6,
  async inject({ keeper, timeLine, random }) {
    const end = timeLine.begin('kill-host', 'SIGKILL');
    await keeper.kill();
    await keeper.start();
    // Sometimes again at once, while sessions are being opened.
    if (random.below(4) === 0) {
      await pause(between(random, 0, 400));
      await keeper.kill();
      await keeper.start();
    }
    end();
    return true;
  },
};
