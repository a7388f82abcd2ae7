/** ast refs: who uses a declaration. */
import type { Command } from 'commander';
import { plainText } from '../../../terminal/plain-text.ts';
import { paint, printJson, printLine, showError } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { findTarget, named } from './find-target.ts';
import { type AstSession, showFailure, withAstSession } from './with-session.ts';

interface Reference {
  readonly file: string;
  readonly line: number;
  readonly col?: number;
  readonly name: string;
  readonly kind: string;
  readonly test: boolean;
}

const LIMIT = 10_000;

export function addRefs(command: Command, done: Done): void {
  withRuntimeOptions(command.command('refs').description('Who uses a declaration'))
    .argument('<target>', 'name, id, or file:line:col of a declaration')
    .action(async (target: string, options: SharedOptions) => {
      done(await withAstSession(options, (session) => refs(target, options, session)));
    });
}

async function refs(target: string, options: SharedOptions, session: AstSession): Promise<number> {
  const asked = await question(target, session);
  if (asked === undefined) return 1;
  const response = await session.call('ast_query', { ...asked, view: 'references', limit: LIMIT });
  if (!response.ok) {
    showFailure(response, options);
    return 1;
  }
  const { references, confidence, nodes } = response.data as unknown as {
    readonly references: readonly Reference[];
    readonly confidence: string;
    readonly nodes: readonly object[];
  };
  if (options.json === true) printJson(response, { compact: true });
  else for (const one of references) printLine(referenceLine(one));
  if (references.length === 0) showError(nodes.length === 0 ? `Nothing found: ${target}` : `Nobody uses it: ${target}`);
  else if (confidence === 'name' && options.json !== true)
    printLine(paint('dim', 'by name: other things may share it'));
  return references.length === 0 ? 1 : 0;
}

/** Several declarations of one name are asked about together: that says who calls any of them. */
async function question(target: string, session: AstSession): Promise<object | undefined> {
  const isName = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(target) && !/^n[0-9A-Za-z]{12}$/.test(target);
  const nodes = isName ? await named(target, session) : undefined;
  if (isName && nodes === undefined) return undefined;
  if (nodes !== undefined && nodes.length !== 1) return { where: { name_like: target } };
  const node = nodes?.[0] ?? (await findTarget(target, session));
  return node === undefined ? undefined : { node_id: node.id };
}

function referenceLine({ file, line, col, kind, name, test }: Reference): string {
  const place = paint('cyan', plainText(`${file}:${line}${col === undefined ? '' : `:${col}`}`));
  return `${place} ${kind} ${plainText(name)}${test ? paint('dim', ' (test)') : ''}`;
}
