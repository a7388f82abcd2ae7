/** Arguments several git tools share, described once. */
import { z } from 'zod';

const MAX_PATHS = 1000;

export const revision = z
  .string()
  .min(1)
  .describe('Branch, tag, hash or expression such as HEAD~2 or @{upstream}; never begins with a dash');

export const paths = z
  .array(z.string().min(1))
  .max(MAX_PATHS)
  .describe('Files, folders or globs such as src/**/*.ts, relative to the workspace root');

/** A single line that git gets inside one word of its own. */
export const plainText = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\x00-\x1f\x7f]*$/, 'one line without control characters');
