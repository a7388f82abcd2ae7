/** Another process moves old records into an archive while the host writes, and is sometimes killed in the middle of it. */
import { setTimeout as pause } from 'node:timers/promises';
import { startCli } from '../../../packages/host/test/run-cli.ts';
import { between, type Fault } from './fault.ts';

const KEEP_RECORDS = '500';

export const rotateJournal: Fault = {
  name: 'rotate-journal',
  scope: 'host',
  weight: 2,
  async inject({ stage, timeLine, random, violations }) {
    const site = random.pick(stage.sites);
    const places = ['--workspace', site.folder, '--state', site.state, '--registry', stage.places.registry];
    const child = startCli(['audit', 'rotate', '--keep-records', KEEP_RECORDS, ...places]);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const isKilled = random.below(2) === 0;
    const end = timeLine.begin('rotate-journal', `${site.name}${isKilled ? ', killed on the way' : ''}`);
    if (isKilled) await pause(between(random, 200, 1500)).then(() => child.kill('SIGKILL'));
    const code = await ended;
    if (!isKilled && code !== 0) violations.add(`rotation ended with ${code}: ${said.slice(0, 500)}`);
    end();
    return true;
  },
};
