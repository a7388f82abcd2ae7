/**
 * Hooks as a package declares them. Code is not fingerprinted: a hook counts only through its derived sidecar,
 * which must be in the package and say exactly what the spec says.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { contractViolation, missingField } from '../contracts/failures.ts';
import type { PolicyRef } from '../contracts/refs.ts';
import { canonicalJson, digest } from '../platform/digest.ts';
import type { PackageSidecar } from './package-parts.ts';
import { explicitPolicyProblems, idProblems, unknownValue } from './problems.ts';

export const HOOK_POINTS = ['before_tool_call', 'after_tool_call'] as const;
export type HookPoint = (typeof HOOK_POINTS)[number];

export const HOOK_RIGHTS = ['observe', 'deny', 'modify_tool_request', 'rewrite_tool_result'] as const;
export type HookRight = (typeof HOOK_RIGHTS)[number];

const RIGHTS_AT: Readonly<Record<HookPoint, readonly HookRight[]>> = {
  before_tool_call: ['observe', 'deny', 'modify_tool_request'],
  after_tool_call: ['observe', 'rewrite_tool_result'],
};

export interface HookSpec {
  readonly hook_id: string;
  readonly version: string;
  readonly point: HookPoint;
  readonly rights: readonly HookRight[];
  readonly executor_ref: string;
  readonly policy_ref: PolicyRef;
}

export function hookProblems(hook: HookSpec, at: string): ToolError[] {
  const { hook_id, version, executor_ref } = hook;
  const problems = [
    ...idProblems({ hook_id, version, executor_ref }, at),
    ...explicitPolicyProblems(hook.policy_ref, `${at}.policy_ref`),
  ];
  const allowed = RIGHTS_AT[hook.point];
  if (allowed === undefined) return [...problems, unknownValue(`${at}.point`)];
  if (hook.rights.length === 0) problems.push(missingField(`${at}.rights`));
  if (hook.rights.some((right) => !allowed.includes(right))) {
    problems.push(
      contractViolation(`Hook right does not exist at this point: ${at}.rights`, { field: `${at}.rights` }),
    );
  }
  return problems;
}

/** The order of rights does not matter. */
export function hookSidecar(hook: HookSpec): PackageSidecar {
  const { hook_id, version, point, executor_ref, policy_ref } = hook;
  const content = {
    hook_id,
    version,
    point,
    executor_ref,
    policy_ref: { ...policy_ref },
    rights: [...hook.rights].sort(),
  };
  return {
    sidecar_id: `sidecar.hook.${hook_id}`,
    kind: 'hook_spec',
    version,
    refs: [],
    policy_refs: [policy_ref],
    content_hash: digest(canonicalJson(content)),
  };
}
