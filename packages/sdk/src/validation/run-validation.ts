/**
 * Rules on request. A rule that judges contents alone is not run again over a set of contents it has judged before, so an
 * unchanged tree costs a list of names.
 */
import { createHash } from 'node:crypto';
import type { ChangedFile, ChangeSet } from '../contracts/git.ts';
import type {
  FindingCache,
  FoundViolation,
  RuleContext,
  RuleSubject,
  RuleVerdict,
  ValidationReport,
  ValidationRequest,
  Violation,
} from '../contracts/rule.ts';
import { compileGlobs } from '../glob/match-glob.ts';
import { type ActiveRule, checkRule, type RuleSet, uncheckable } from '../policy/rule-set.ts';

export interface ValidationParts {
  readonly rules: RuleSet;
  /** With this set of changes as what is judged. */
  context(changes: ChangeSet): RuleContext;
  readonly hasAst: boolean;
}

export async function runValidation(
  request: ValidationRequest,
  changes: ChangeSet,
  { rules, context, hasAst }: ValidationParts,
): Promise<ValidationReport> {
  const narrowed = narrowTo(changes, request.globs);
  const subject = subjectOf(narrowed, request.message);
  const ruleContext = context(narrowed);
  const violations: FoundViolation[] = [];
  const verdicts: RuleVerdict[] = [];
  for (const active of chosenRules(request, rules, hasAst)) {
    request.signal.throwIfAborted();
    const { rule, enforcement } = active;
    const applies = runsOnRequest(active, request) && rule.appliesTo(subject);
    const found = applies ? await judged(active, subject, ruleContext) : [];
    violations.push(...found.map((violation) => ({ ...violation, rule: rule.id, level: enforcement })));
    const status = applies ? (found.length === 0 ? 'passed' : 'failed') : 'not_applicable';
    verdicts.push({ id: rule.id, level: enforcement, status, description: rule.description });
  }
  // A rule that was stopped is not one that found something.
  request.signal.throwIfAborted();
  return { violations, rules: verdicts, files: narrowed.files.length, scope: changes.scope };
}

function chosenRules(request: ValidationRequest, rules: RuleSet, hasAst: boolean): readonly ActiveRule[] {
  const wanted = rules.select(request.rules);
  return wanted.filter(({ rule, enforcement }) => {
    if (request.enforcement !== undefined && enforcement !== request.enforcement) return false;
    return request.rules !== undefined || rule.needs?.includes('ast') !== true || hasAst;
  });
}

/** Rules about calls have nothing to look at here; the state of the work tree only matters when it is asked for. */
function runsOnRequest({ rule }: ActiveRule, request: ValidationRequest): boolean {
  if (rule.phase === 'before') return rule.onRequest === true;
  return rule.phase !== 'guard' || request.rules?.includes(rule.id) === true;
}

async function judged(active: ActiveRule, subject: RuleSubject, context: RuleContext): Promise<readonly Violation[]> {
  const { rule } = active;
  if (rule.byContent !== true) return checkRule(rule, subject, context);
  const key = setKey(rule.id, await context.changeSet(), context);
  const known = recall(context.cache, key);
  if (known !== undefined) return known;
  try {
    const found = await rule.check(subject, context);
    context.cache.set(key, JSON.stringify(found));
    return found;
  } catch (thrown) {
    // Says nothing about the contents, so it is not kept.
    return [uncheckable(thrown)];
  }
}

function recall(cache: FindingCache, key: string): readonly Violation[] | undefined {
  const kept = cache.get(key);
  return kept === undefined ? undefined : (JSON.parse(kept) as Violation[]);
}

/** Equal only for the same rule under the same registry over the same names and contents, on top of the same ones. */
function setKey(rule: string, changes: ChangeSet, { registry }: RuleContext): string {
  const hash = createHash('sha256');
  hash.update(
    `${rule}\n${registry.fingerprint}\n${changes.scope}\n${changes.base ?? ''}\n${changes.tip ?? ''}\n${changes.branch ?? ''}\n${changes.message ?? ''}\n`,
  );
  for (const { path, kind, mode, blob, sha256 } of changes.files) {
    hash.update(`${kind} ${mode} ${blob ?? sha256 ?? ''} ${path}\0`);
  }
  return `set:${hash.digest('hex')}`;
}

function narrowTo(changes: ChangeSet, globs: readonly string[] | undefined): ChangeSet {
  if (globs === undefined || globs.length === 0) return changes;
  const isWanted = compileGlobs(globs);
  return {
    ...changes,
    files: changes.files.filter(({ path }) => isWanted(path)),
    addedLines: async (files) => (await changes.addedLines(files)).filter(({ path }) => isWanted(path)),
  };
}

/** As if the changes were about to be committed. */
function subjectOf(changes: ChangeSet, message: string | undefined): RuleSubject {
  return {
    tool: '',
    args: {},
    paths: [],
    urls: [],
    commands: [],
    environments: [],
    profile: { kind: 'read', side_effect_level: 'read_only', effect: 'read', risk: 'low' },
    changes: changes.files
      .filter(isFile)
      .map(({ path }) => ({ path, before: null, after: { sha256: null, size: 0, mode: 0 } })),
    git: { verb: 'commit', ...(message === undefined ? {} : { message }) },
  };
}

function isFile({ kind, mode }: ChangedFile): boolean {
  return kind !== 'deleted' && mode !== '120000' && mode !== '160000';
}
