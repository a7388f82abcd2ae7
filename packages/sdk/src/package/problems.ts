/** Problems that a check finds, collected so that one error can name them all. */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { z } from 'zod';
import { contractViolation, failure, missingField } from '../contracts/failures.ts';
import { checkId } from '../contracts/identifiers.ts';
import { POLICY_KINDS, type PolicyRef } from '../contracts/refs.ts';

/** A throwing check as a value; anything but a ToolError is a bug and is thrown on. */
export function problemsOf(check: () => unknown): ToolError[] {
  try {
    check();
    return [];
  } catch (thrown) {
    if (isToolError(thrown)) return [thrown];
    throw thrown;
  }
}

/** Throws the first problem as it is, with the messages of all in `details.problems`; returns when there is none. */
export function throwProblems(problems: readonly ToolError[]): void {
  const [first] = problems;
  if (first === undefined) return;
  throw new ToolError(first.code, first.message, {
    ...(first.path === undefined ? {} : { path: first.path }),
    details: { ...first.details, problems: problems.map((problem) => problem.message) },
  });
}

/** Checks each value as an id; the field is `<at>.<key>`. */
export function idProblems(ids: Readonly<Record<string, string>>, at: string): ToolError[] {
  return Object.entries(ids).flatMap(([key, value]) => problemsOf(() => checkId(value, `${at}.${key}`)));
}

export function policyRefProblems(ref: PolicyRef | undefined, at: string): ToolError[] {
  if (ref === undefined || ref === null) return [missingField(at)];
  const problems = idProblems({ id: ref.id }, at);
  if (!POLICY_KINDS.includes(ref.kind)) problems.push(unknownValue(`${at}.kind`));
  return problems;
}

/** For places that need a named policy: a ref of kind `host` names none. */
export function explicitPolicyProblems(ref: PolicyRef | undefined, at: string): ToolError[] {
  const problems = policyRefProblems(ref, at);
  if (ref?.kind === 'host') problems.push(contractViolation(`Policy ref names no policy: ${at}`, { field: at }));
  return problems;
}

export function unknownValue(field: string): ToolError {
  return contractViolation(`Value is not one of the known ones: ${field}`, { field });
}

/**
 * Foreign JSON values against a schema, with every problem named by its path. Throws E_VALIDATION_FAIL; `subject` is
 * what the value should have been, such as `Tool route`.
 */
export function parseForeign<T>(schema: z.ZodType<T>, value: unknown, subject: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.map(String).join('.') || '(root)'}: ${issue.message}`,
  );
  throw failure('invalid_package', 'host_configuration_needed', `${subject} cannot be read: ${problems[0]}`, {
    details: { problems },
  });
}
