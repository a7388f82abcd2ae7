/** A profile says how one server is used: which tool does what, how its arguments are filled in and its answers are read. */
import { z } from 'zod';

const jsonSchema = z.json();

const toolSchema = z.strictObject({
  tool: z.string().min(1).describe('Name of the tool'),
  args: z
    .record(z.string(), jsonSchema)
    .describe('Its arguments; {path}, {content}, {old}, {new}, {pattern} and {command} are filled in'),
  text: z
    .string()
    .optional()
    .describe(
      'Where the text of the answer is, such as structuredContent.content or data.stdout; * is each entry, and texts that are JSON are looked into',
    ),
});

const runSchema = toolSchema.extend({
  programs: z
    .array(z.enum(['cat', 'echo', 'env', 'sh', 'sleep']))
    .describe('Programs that the server runs under this profile; a case that needs another one does not apply'),
  keeps_running: z
    .boolean()
    .default(false)
    .describe('True if a command may go on after its answer because it is a job that the caller stops later'),
});

export const profileSchema = z.strictObject({
  name: z.string().min(1),
  summary: z.string().default(''),
  start: z
    .strictObject({ mcp: z.string().optional(), envelopes: z.string().optional() })
    .default({})
    .describe('The command that starts the server, where none is given on the command line'),
  variables: z
    .record(z.string(), z.string())
    .default({})
    .describe('Further names for commands, such as {program}; --define sets others'),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      'Environment of the server, in addition to that of the suite; {workspace}, {state} and {setup} are filled in',
    ),
  files: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      'Files that are written to {setup} before the server starts; {workspace}, {state} and {setup} are filled in',
    ),
  paths: z
    .enum(['relative', 'absolute'])
    .default('relative')
    .describe('Whether the tools take paths relative to the workspace or absolute ones'),
  tools: z.strictObject({
    read: toolSchema.optional(),
    write: toolSchema.optional(),
    edit: toolSchema.optional(),
    list: toolSchema.optional(),
    search: toolSchema.optional(),
    run: runSchema.optional(),
  }),
  refusal: z
    .string()
    .optional()
    .describe('Regular expression: an answer whose text matches is a refusal, although it is not marked as an error'),
  idempotency: z
    .strictObject({
      in: z.enum(['arguments', 'meta', 'envelope']),
      field: z.string().min(1),
      durable: z.boolean().default(false).describe('True if a key is still known after a restart'),
    })
    .optional()
    .describe('How a call carries an idempotency key, if the server has such keys'),
  journal: z
    .strictObject({
      show: z.string().describe('Command that prints the records'),
      verify: z.string().describe('Command that exits with 0 if the records are unchanged'),
      files: z.array(z.string()).describe('Files that hold the records; globs are allowed'),
    })
    .optional()
    .describe('How the journal is read and checked, if the server keeps one'),
});

/** As it is written in a file. */
export type ProfileSource = z.input<typeof profileSchema>;
export type Profile = Readonly<z.output<typeof profileSchema>>;
export type Capability = keyof Profile['tools'];
