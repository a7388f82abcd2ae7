/** What a failed command printed, as violations where its format is known, and its last words in any case. */
import type { CommandOutcome } from '../../contracts/commands.ts';
import type { RuleContext, Violation } from '../../contracts/rule.ts';
import type { CommandFinding } from '../../findings/command-finding.ts';

const MAX_VIOLATIONS = 50;
const TAIL_BYTES = 2048;

export interface Complaints {
  readonly findings: readonly Violation[];
  readonly tail: string;
}

export async function readComplaints(outcome: CommandOutcome, context: RuleContext): Promise<Complaints> {
  const output = [outcome.stdout.text, outcome.stderr.text].filter((text) => text !== '').join('\n');
  const [{ parseFindings }, root] = await Promise.all([
    // Readers of two dozen formats: needed only when something has failed.
    import('../../findings/parse-findings.ts'),
    workspaceRoot(context),
  ]);
  const { findings } = parseFindings(output, root === undefined ? {} : { root });
  const errors = findings.filter(({ severity }) => severity === 'error');
  const chosen = errors.length > 0 ? errors : findings;
  return { findings: chosen.slice(0, MAX_VIOLATIONS).map(asViolation), tail: tailOf(output) };
}

/** Many programs print absolute names. Git sees the workspace where the command saw it. */
async function workspaceRoot({ git, signal }: RuleContext): Promise<string | undefined> {
  const { code, stdout } = await git.run({
    words: ['rev-parse', '--show-toplevel'],
    access: 'read',
    accept: [0, 128],
    signal,
  });
  return code === 0 ? stdout.toString('utf8').replace(/\n$/, '') : undefined;
}

function asViolation({ path, line, column, code, severity, message }: CommandFinding): Violation {
  return {
    message: code === undefined ? message : `${message} (${code})`,
    path,
    ...(line === undefined ? {} : { line }),
    details: {
      severity,
      ...(column === undefined ? {} : { column }),
      ...(code === undefined ? {} : { code }),
    },
  };
}

/** Whole characters, and from the start of a line where there is one. */
function tailOf(output: string): string {
  const bytes = Buffer.from(output.trimEnd(), 'utf8');
  if (bytes.length <= TAIL_BYTES) return bytes.toString('utf8');
  const cut = bytes.subarray(bytes.length - TAIL_BYTES).toString('utf8');
  const lineEnd = cut.indexOf('\n');
  return `…${cut.slice(lineEnd === -1 ? 0 : lineEnd + 1).replace(/^\uFFFD+/, '')}`;
}
