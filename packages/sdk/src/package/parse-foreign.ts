/** Foreign JSON values against a schema, with every problem named by its path. */
import type { z } from 'zod';
import { failure } from '../contracts/failures.ts';

/** Throws E_VALIDATION_FAIL; `subject` is what the value should have been, such as `Tool route`. */
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
