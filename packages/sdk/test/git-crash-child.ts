/** Calls one git tool and says when it begins and ends. Started, and killed, by git-crash.deep.test.ts. */
import { gitMerge } from '../src/tools/git/git-merge.ts';
import { gitRebase } from '../src/tools/git/git-rebase.ts';
import { gitRecover } from '../src/tools/git/git-recover.ts';
import { gitRestore } from '../src/tools/git/git-restore.ts';
import { openGitRuntime } from './git-repository.ts';

const [folder = '', tool = '', args = '{}'] = process.argv.slice(2);
const runtime = await openGitRuntime({ folder }, { tools: [gitMerge, gitRebase, gitRecover, gitRestore] });
// The sandbox and the configuration are checked once, before the part that is interrupted.
await runtime.ask('git_recover', { list: true });
process.stdout.write('begins\n');
const { ok, errors } = await runtime.ask(tool, JSON.parse(args) as object);
const { reason, stderr } = errors[0]?.details ?? {};
process.stdout.write(`ends ${ok} ${reason ?? ''} ${JSON.stringify(stderr ?? '')}\n`);
await runtime.dispose();
