/** The race of path-rule-race.test.ts, played as a user without privileges. Prints one line of JSON. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadNativeCalls } from '../src/platform/descriptors/native-calls.ts';
import { ACTIONS, openArena, playRace } from './path-rule-arena.ts';

const [base = '', user = '', rounds = ''] = process.argv.slice(2);
loadNativeCalls();
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}
const folder = join(base, 'arena');
mkdirSync(folder);
const { ruled, touched, close } = await openArena(folder, 'openat2');
const report = { uid: process.getuid?.(), allowed: 0, refused: 0, secret: 0, touched: [] as readonly string[] };
for (const action of Object.keys(ACTIONS)) {
  const answers = await playRace(ruled, action, Number(rounds));
  report.allowed += answers['allowed'] ?? 0;
  report.refused += answers['E_POLICY'] ?? 0;
  report.secret += answers['secret'] ?? 0;
}
report.touched = touched();
await close();
process.stdout.write(JSON.stringify(report));
