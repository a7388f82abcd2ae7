/** The time of day jumps, there and back again. The system's own clock stays as it is. */
import { setTimeout as pause } from 'node:timers/promises';
import { between, type Fault } from './fault.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const STEPS = [2 * MINUTE_MS, -2 * MINUTE_MS, 70 * MINUTE_MS, -70 * MINUTE_MS, 3 * DAY_MS, -3 * DAY_MS];

export const clockStep: Fault = {
  name: 'clock-step',
  scope: 'host',
  weight: 3,
  async inject({ keeper, timeLine, random }) {
    const clockOffsetMs = random.pick(STEPS);
    const end = timeLine.begin('clock-step', `${clockOffsetMs / MINUTE_MS} minutes`);
    keeper.set({ clockOffsetMs });
    await pause(between(random, 1000, 4000));
    keeper.set({ clockOffsetMs: 0 });
    end();
    return true;
  },
};
