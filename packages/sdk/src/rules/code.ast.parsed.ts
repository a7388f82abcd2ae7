/**
 * code.ast.parsed: a changed source file still parses.
 *
 * Without a parser the answer is unknown, and unknown is not a pass: the change of a source file is refused.
 */
import { extname } from 'node:path';
import { defineRule, type RuleContext, type RuleSubject, type Violation } from '../contracts/rule.ts';

/** What counts as source when no parser is there to ask. */
const SOURCE_EXTENSIONS = new Set(
  (
    '.ts .mts .cts .tsx .js .mjs .cjs .jsx .py .rs .go .java .c .h .cc .cpp .hpp .cs .rb .php .kt .swift .sh .bash ' +
    '.json .yaml .yml .html .css'
  ).split(' '),
);

export const codeAstParsed = defineRule({
  id: 'code.ast.parsed',
  category: 'AST',
  description: 'Changed source files parse without errors',
  phase: 'after',
  trigger: 'after a file is written or patched',
  defaultEnforcement: 'blocking',
  needs: ['ast'],
  errorCode: 'E_AST_PARSE',
  appliesTo: (subject) => changedSources(subject).length > 0,
  async check(subject, context) {
    const violations: Violation[] = [];
    for (const path of changedSources(subject)) violations.push(...(await problemsOf(path, context)));
    return violations;
  },
});

function changedSources(subject: RuleSubject): string[] {
  return subject.changes
    .filter(({ path, after }) => after !== null && after.type === undefined && SOURCE_EXTENSIONS.has(extension(path)))
    .map((change) => change.path);
}

function extension(path: string): string {
  return extname(path).toLowerCase();
}

async function problemsOf(path: string, context: RuleContext): Promise<readonly Violation[]> {
  if (context.ast === undefined) {
    return [
      {
        message: `File cannot be checked, because this runtime has no parser: ${path}`,
        path,
        next: 'create the runtime with an AST index, or lower code.ast.parsed in the registry',
      },
    ];
  }
  return context.ast.covers(path) ? context.ast.parseProblems(path, context.signal) : [];
}
