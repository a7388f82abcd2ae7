/**
 * Whether a call needs an approval: deny → write paths → require approval → auto approve → default.
 *
 * By default a known reader passes and everything else asks. A tool that says nothing about itself is never approved
 * by a list, not even by name; one that asks by default is approved by a list alone. Merging can only make verdicts
 * stricter.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { isReadOnlyKind } from '../contracts/annotations.ts';
import { policyDenial } from '../contracts/failures.ts';
import type { ApprovalPolicy } from '../contracts/registry.ts';
import type { CallProfile } from '../contracts/tool.ts';
import { cutText } from '../glob/glob-syntax.ts';
import { compileGlobs, type GlobTest, intersectGlobs } from '../glob/match-glob.ts';
import { compilePathClause, compilePathGlobs, intersectPathGlobs, type PathClause } from './path-rule.ts';

export interface ApprovalSubject {
  readonly tool: string;
  readonly annotated: boolean;
  readonly profile: CallProfile;
  /** Left out: what is written is judged elsewhere. */
  readonly paths?: readonly string[];
  /** Of a tool from outside: what it says about itself grants nothing. */
  readonly asksByDefault?: boolean;
}

export interface ApprovalVerdict {
  readonly verdict: 'approve' | 'deny' | 'ask';
  /** A short code, such as `approval.auto_deny`. */
  readonly reason: string;
  /** The registry field that decided, where one did. */
  readonly field?: string;
}

export interface ApprovalJudge {
  judge(subject: ApprovalSubject): ApprovalVerdict;
  /** The write allow-list, for a call that may change something and names paths under these keys. */
  writeClause(subject: ApprovalSubject, keys: readonly string[]): PathClause | undefined;
}

const UNANNOTATED: ApprovalVerdict = { verdict: 'ask', reason: 'approval.unannotated_tool' };
const READ_ONLY: ApprovalVerdict = { verdict: 'approve', reason: 'approval.read_only' };
const CHANGES: ApprovalVerdict = { verdict: 'ask', reason: 'approval.changes_by_default' };
const ASKS: ApprovalVerdict = { verdict: 'ask', reason: 'approval.foreign_tool' };
const NO_POLICY: ApprovalVerdict = { verdict: 'approve', reason: 'approval.no_policy' };
const DENIED = decidedBy('deny', 'auto_deny');
const APPROVED = decidedBy('approve', 'auto_approve');
const REQUIRED = decidedBy('ask', 'require_approval');
const WRITE_PATH = decidedBy('deny', 'write_path_allowlist');

/** Without a policy, tools that say what they do pass, and the others ask. */
export function compileApprovalPolicy(policy: ApprovalPolicy | undefined): ApprovalJudge {
  if (policy === undefined) return { judge: judgeWithoutPolicy, writeClause: () => undefined };
  const denies = compileGlobs(policy.auto_deny ?? []);
  const approvesOwn = compileGlobs(policy.auto_approve ?? []);
  const approvesForeign = compileGlobs(foreignApproved(policy));
  const requires = compileGlobs(policy.require_approval ?? []);
  const allowlist = policy.write_path_allowlist;
  const mayWrite = allowlist && compilePathGlobs(allowlist);
  const clause =
    allowlist && compilePathClause(allowlist, { gate: 'approval', keys: [], everyWrite: true, refuse: notInAllowlist });
  return {
    writeClause: (subject, keys) => (clause === undefined || isReader(subject) ? undefined : { ...clause, keys }),
    judge(subject) {
      const readOnly = isReader(subject);
      const approves = subject.asksByDefault === true ? approvesForeign : approvesOwn;
      if (denies(subject.tool)) return DENIED;
      if (!readOnly && mayWrite !== undefined && !allMatch(subject.paths, mayWrite)) return WRITE_PATH;
      // Where both lists have it, the stricter one decides.
      if (requires(subject.tool)) return REQUIRED;
      if (subject.annotated && approves(subject.tool)) return APPROVED;
      if (subject.asksByDefault === true) return ASKS;
      if (readOnly) return READ_ONLY;
      return subject.annotated ? CHANGES : UNANNOTATED;
    },
  };
}

function judgeWithoutPolicy({ annotated, asksByDefault }: ApprovalSubject): ApprovalVerdict {
  if (!annotated) return UNANNOTATED;
  return asksByDefault === true ? ASKS : NO_POLICY;
}

/**
 * Deny and require are unions, approve and write paths intersections. A policy that is not there says nothing, except
 * that a host without one lets no foreign tool pass unasked; one that is there without `auto_approve` approves nothing
 * by list, so the merged one does not either.
 */
export function mergeApprovalPolicies(
  host: ApprovalPolicy | undefined,
  session: ApprovalPolicy | undefined,
): ApprovalPolicy | undefined {
  if (session === undefined) return host;
  if (host === undefined)
    return session.auto_approve === undefined ? session : { ...session, auto_approve_foreign: [] };
  const approve = intersectGlobs(host.auto_approve ?? [], session.auto_approve ?? []);
  const isForeignApart = (host.auto_approve_foreign ?? session.auto_approve_foreign) !== undefined;
  const foreign = intersectGlobs(foreignApproved(host), foreignApproved(session));
  const deny = union(host.auto_deny, session.auto_deny);
  const require = union(host.require_approval, session.require_approval);
  const paths = meetPaths(host.write_path_allowlist, session.write_path_allowlist);
  return {
    ...((host.auto_approve ?? session.auto_approve) === undefined ? {} : { auto_approve: approve }),
    ...(isForeignApart ? { auto_approve_foreign: foreign } : {}),
    ...(deny === undefined ? {} : { auto_deny: deny }),
    ...(require === undefined ? {} : { require_approval: require }),
    ...(paths === undefined ? {} : { write_path_allowlist: paths }),
  };
}

function foreignApproved({ auto_approve: all, auto_approve_foreign: foreign }: ApprovalPolicy): readonly string[] {
  return foreign ?? all ?? [];
}

function decidedBy(verdict: ApprovalVerdict['verdict'], field: keyof ApprovalPolicy): ApprovalVerdict {
  return { verdict, reason: `approval.${field}`, field: `approvals.${field}` };
}

/** Kind and level must both say so; network is a reader's level only for fetching. */
function isReader({ annotated, profile }: ApprovalSubject): boolean {
  if (!annotated || !isReadOnlyKind(profile.kind)) return false;
  const level = profile.side_effect_level;
  return level === 'none' || level === 'read_only' || (level === 'network' && profile.kind === 'fetch');
}

function notInAllowlist(key: string, path: string): ToolError {
  return policyDenial(`Approval policy denies the call: ${WRITE_PATH.reason}`, {
    path: key,
    details: {
      gate: 'approval',
      reason: 'write_path',
      field: 'approvals.write_path_allowlist',
      target: cutText(path),
      next: 'write to a path in the allow-list; a path that leads through a link is judged by its target too',
    },
  });
}

/** A writer that declares no path could write anywhere. */
function allMatch(paths: readonly string[] | undefined, mayWrite: GlobTest): boolean {
  return paths === undefined || (paths.length > 0 && paths.every(mayWrite));
}

type List = readonly string[] | undefined;

function union(first: List, second: List): List {
  if (first === undefined || second === undefined) return first ?? second;
  return [...new Set([...first, ...second])];
}

function meetPaths(first: List, second: List): List {
  if (first === undefined || second === undefined) return first ?? second;
  return intersectPathGlobs(first, second);
}
