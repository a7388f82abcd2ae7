/** The written form of the registry's `import_rules`, and what it says about one import. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import { compileGlobs, type GlobTest, type Registry } from '@tool-runtime/sdk';
import { z } from 'zod';

const glob = z.string().min(1).max(1024);
const globs = z.union([glob.transform((one) => [one]), z.array(glob).min(1)]);

/** One boundary. Every rule is checked by itself: an import must pass all whose `from` matches. */
export const importRuleSchema = z
  .strictObject({
    from: globs.describe('Files whose imports are checked'),
    allow: globs
      .optional()
      .describe('Files they may import, in addition to each other; by default all that deny does not name'),
    deny: globs.optional().describe('Files, or names of packages as they are written, they may not import'),
    message: z.string().min(1).max(500).optional().describe('Why; shown with a violation'),
    type_only: z.boolean().default(true).describe('Whether imports of nothing but types count'),
  })
  .refine(({ allow, deny }) => allow !== undefined || deny !== undefined, 'Needs allow or deny');

export interface ImportRule {
  readonly message: string;
  readonly countsTypes: boolean;
  /** Where the registry says so. */
  readonly registry: string | undefined;
  appliesTo(path: string): boolean;
  /** `isFile`: a file of the workspace; otherwise the name of a package. */
  permits(target: string, isFile: boolean): boolean;
}

/** Throws E_VALIDATION_FAIL naming the first wrong entry. */
export function compileImportRules({
  importRules,
  spot,
}: Pick<Registry, 'importRules' | 'spot'>): readonly ImportRule[] {
  return importRules.map((written, index) => {
    const place = spot(`import_rules.${index}`);
    return compile(written, index, place === undefined ? undefined : `${place.file}:${place.line}`);
  });
}

function compile(written: JsonObject, index: number, registry: string | undefined): ImportRule {
  const parsed = importRuleSchema.safeParse(written);
  if (!parsed.success) throw invalid(parsed.error, index, registry);
  const { from, allow, deny, message = 'Import crosses a boundary', type_only } = parsed.data;
  const isFrom = compileGlobs(from);
  const isAllowed: GlobTest = allow === undefined ? () => true : compileGlobs(allow);
  const isDenied = compileGlobs(deny ?? []);
  return {
    message,
    countsTypes: type_only,
    registry,
    appliesTo: isFrom,
    permits: (target, isFile) => !isDenied(target) && (!isFile || isAllowed(target) || isFrom(target)),
  };
}

function invalid(error: z.ZodError, index: number, registry: string | undefined): ToolError {
  const [issue] = error.issues;
  const field = ['import_rules', index, ...(issue?.path ?? [])].join('.');
  return new ToolError('E_VALIDATION_FAIL', `Import rule is not valid: ${field}`, {
    path: field,
    details: {
      reason: issue?.message ?? 'not valid',
      ...(registry === undefined ? {} : { registry }),
      next: 'write from, and allow or deny, as globs; message and type_only are optional',
    },
  });
}
