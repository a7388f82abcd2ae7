/** The host is stopped for a while, as under a debugger or on a machine that was put to sleep. */
import { setTimeout as pause } from 'node:timers/promises';
import { between, type Fault } from './fault.ts';

export const stopHost: Fault = {
  name: 'stop-host',
  scope: 'host',
  weight: 3,
  async inject({ keeper, timeLine, random }) {
    const { host } = keeper;
    if (host === undefined) return false;
    const millis = between(random, 100, 3000);
    const end = timeLine.begin('stop-host', `SIGSTOP for ${millis} ms`);
    host.signal('SIGSTOP');
    await pause(millis);
    host.signal('SIGCONT');
    end();
    return true;
  },
};
