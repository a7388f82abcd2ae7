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
  description: 'Changed source files parse without errors they did not have before',
  phase: 'after',
  trigger: 'after a file is written or patched',
  defaultEnforcement: 'blocking',
  needs: ['ast'],
  failsClosed: true,
  errorCode: 'E_AST_PARSE',
  appliesTo: (subject) => writtenFiles(subject).length > 0,
  async check(subject, context) {
    const violations: Violation[] = [];
    for (const file of writtenFiles(subject)) violations.push(...(await problemsOf(file, context)));
    return violations;
  },
});

interface WrittenFile {
  readonly path: string;
  /** There was no file of this name before the call. */
  readonly isNew: boolean;
}

/** From before the call to after it, each file once. A content that only got another name was not written. */
function writtenFiles({ changes }: RuleSubject): readonly WrittenFile[] {
  const first = new Map(changes.map(({ path, before }) => [path, before] as const).reverse());
  const last = new Map(changes.map(({ path, after }) => [path, after] as const));
  const known = new Set([...first.values()].map((before) => before?.sha256 ?? null));
  return [...last].flatMap(([path, after]) => {
    const isKept = after === null || after.type !== undefined || (after.sha256 !== null && known.has(after.sha256));
    return isKept ? [] : [{ path, isNew: first.get(path) === null }];
  });
}

async function problemsOf({ path, isNew }: WrittenFile, { ast, signal }: RuleContext): Promise<readonly Violation[]> {
  if (ast !== undefined) return ast.covers(path) ? ast.parseProblems(path, signal, { isNew }) : [];
  if (!SOURCE_EXTENSIONS.has(extname(path).toLowerCase())) return [];
  return [
    {
      message: `File cannot be checked, because this runtime has no parser: ${path}`,
      path,
      next: 'create the runtime with an AST index, or lower code.ast.parsed in the registry',
    },
  ];
}
