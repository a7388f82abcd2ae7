/**
 * The written form of a registry: every key, its limits and its description. The JSON Schema for editors comes from it.
 *
 * Strict at every level. What stands in `import_rules` and `providers` is checked by whoever uses it.
 * Checks that need to know rules or tools are elsewhere (check-names.ts); here a value is judged by itself.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import { z } from 'zod';
import { SIDE_EFFECT_LEVELS } from '../contracts/annotations.ts';
import { ENFORCEMENTS } from '../contracts/classes.ts';
import { COORDINATOR_QUESTIONS } from '../contracts/coordinator.ts';
import { externalTools } from './external-tool-section.ts';
import { mcpServers } from './mcp-server-section.ts';
import {
  commandText,
  domainText,
  examplesProblem,
  globText,
  hashText,
  nameText,
  patternText,
  shellPatternText,
} from './texts.ts';

const globs = z.array(globText);
const milliseconds = z.int().min(1).max(86_400_000);
const freeMap = z.record(z.string(), z.unknown());

/** The words after a union are what is expected, for the message when none of its forms fits. */
const shellEntry = z.union(
  [
    shellPatternText.describe('Pattern, anchored with ^'),
    z
      .strictObject({
        pattern: shellPatternText.describe('Pattern, anchored with ^'),
        match: z.array(z.string()).default([]).describe('Command lines it must allow; checked at load'),
        not_match: z.array(z.string()).default([]).describe('Command lines it must not allow; checked at load'),
      })
      .superRefine((entry, context) => {
        for (const { path, message } of examplesProblem(entry)) {
          context.addIssue({ code: 'custom', path: [...path], message });
        }
      }),
  ],
  'a pattern, or a map with pattern',
);

const network = z.strictObject({
  allowed_domains: z
    .array(domainText)
    .default([])
    .describe(
      'Hosts that may be contacted on ports 80 and 443: example.org exactly, *.example.org for subdomains; other ports as host:port',
    ),
  insecure_credentials: z
    .array(domainText)
    .exactOptional()
    .describe(
      'Hosts that may be sent credentials over plain http, written as in allowed_domains; left out: credentials need https',
    ),
});

/** At least a section and a name: a lone wildcard would switch the check off by accident. */
const CONFIG_KEY = /^[A-Za-z][A-Za-z0-9-]*\.[^\s]+$/;

const git = z.strictObject({
  allow_push: z
    .boolean()
    .default(false)
    .describe('Whether anything may be pushed; also opens local remotes outside the workspace'),
  allow_force_push: z
    .boolean()
    .default(false)
    .describe('Whether pushes may replace or delete what the remote has; never on protected branches'),
  require_clean_tree_for_commit: z
    .boolean()
    .default(true)
    .describe('Refuse commits while tracked files have unstaged changes'),
  allow_config: z
    .array(z.string().regex(CONFIG_KEY, 'Not a configuration key: write section.name, with * as wildcard'))
    .default([])
    .describe('Keys of repository configuration that may run programs, such as filter.lfs.*; all others are refused'),
  credentials: z
    .record(z.string().min(1), z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'Not the name of a variable'))
    .default({})
    .describe(
      'Host → name of the environment variable that holds its token; sent over https only, unless network.insecure_credentials lists the host',
    ),
});

const ast = z.strictObject({
  language: nameText.exactOptional().describe('Language of calls that name none'),
  format_on_save: z.boolean().default(false).describe('Format edited files unless the call says otherwise'),
  validate_on_edit: z
    .boolean()
    .default(false)
    .describe('Run the build check after edits unless the call says otherwise'),
});

const validator = z.strictObject({
  rule: z.string().min(1).describe('Rule id'),
  enforcement: z.enum(ENFORCEMENTS).exactOptional().describe("Level; the rule's own when left out"),
});

const secrets = z.strictObject({
  allow: z
    .array(hashText)
    .default([])
    .describe('Exceptions of secrets.scan: hash of a blob, or fingerprint of a found value as the finding names it'),
});

const toolSettings = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether the tool may be called'),
    timeout_ms: milliseconds.exactOptional().describe('Time limit of a call that asks for none'),
    max_timeout_ms: milliseconds.exactOptional().describe('Longest time limit a call may ask for'),
  })
  .superRefine(({ timeout_ms: usual, max_timeout_ms: longest }, context) => {
    if (usual === undefined || longest === undefined || usual <= longest) return;
    context.addIssue({ code: 'custom', path: ['timeout_ms'], message: 'Time limit is above max_timeout_ms' });
  });

const argConstraint = z.strictObject({
  tool: globText.describe('Tool name or glob'),
  arg_patterns: globs.describe('Globs; the argument must match at least one'),
  arg_key: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Argument that is constrained; left out: every path argument, and every file the tool writes'),
});

export const childrenSection = z.strictObject({
  max_children: z
    .int()
    .min(0)
    .max(10_000)
    .default(16)
    .describe('Children one session may start over its whole life; recursion_limit says how deep'),
  allow_detach: z.boolean().default(false).describe('Whether a child session may go on without its parent'),
});

const approvals = z.strictObject({
  auto_approve: globs.exactOptional().describe('Tools that need no question'),
  auto_deny: globs.exactOptional().describe('Tools that are refused without a question'),
  require_approval: globs.exactOptional().describe('Tools that always need a yes'),
  write_path_allowlist: globs
    .exactOptional()
    .describe(
      'Only these paths may be written, by name and by where links lead; a write elsewhere is refused, whoever would approve it',
    ),
});

const limits = z.strictObject({
  max_in_flight: z.int().min(1).max(10_000).default(32).describe('Calls of one session that may run at the same time'),
  lock_wait_ms: z.int().min(0).max(3_600_000).default(10_000).describe('Longest wait for a lock'),
  max_request_bytes: z.int().min(1024).max(67_108_864).default(8_388_608).describe('Largest request'),
  approval_timeout_ms: milliseconds.default(120_000).describe('How long an approval may stay unanswered'),
  max_jobs: z.int().min(0).max(1000).default(16).describe('Jobs of one session that may run at the same time'),
  max_workspace_jobs: z
    .int()
    .min(0)
    .max(10_000)
    .default(64)
    .describe('Jobs of all sessions of the workspace that may run at the same time; the operator sets it'),
  max_commands: z
    .int()
    .min(1)
    .max(1000)
    .exactOptional()
    .describe(
      'Commands of all sessions of the workspace that may run at the same time, jobs not counted; further ones wait, the sessions by turns. Left out: twice the number of processor cores, at least 4. The operator sets it',
    ),
});

const budgets = z.strictObject({
  max_calls: z.int().min(0).exactOptional().describe('Calls in one session'),
  max_bytes: z.int().min(0).exactOptional().describe('Bytes read and written in one session'),
  max_duration_ms: z.int().min(0).exactOptional().describe('Summed run time of one session'),
});

export const coordinatorSection = z.strictObject({
  required: z
    .union([z.literal(true), z.array(z.enum(COORDINATOR_QUESTIONS))], 'true, or a list of plan, budget and policy')
    .default([])
    .describe(
      'Questions (plan, budget, policy; true: all) without whose answer nothing goes on; of the others an unreachable coordinator costs a warning',
    ),
  timeout_ms: z.int().min(1).max(60_000).default(2000).describe('How long an answer may take'),
  share_args: z
    .boolean()
    .default(false)
    .describe('Whether the coordinator is shown raw arguments; otherwise hashes, redacted summaries and paths'),
});

const days = z.int().min(0).max(36_500);

export const retentionSection = z.strictObject({
  records_days: days.default(90).describe('Days after which records move from the journal into archives; 0: never'),
  records_max: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(5_000_000)
    .describe('Records the journal holds before the oldest move into archives, about 2 GiB; 0: any number'),
  archives_days: days.default(365).describe('Days after its newest record that an archive is deleted; 0: never'),
  answers_days: days
    .default(30)
    .describe('Days that answers of idempotency keys are repeated; a key used later runs its call again; 0: always'),
  runs_days: days
    .default(90)
    .describe('Days that folders of external runs are kept; the newest 10 of each tool stay; 0: all stay'),
});

export const registryDocument = z
  .strictObject({
    version: z.literal(1).default(1).describe('Version of this format'),
    network: network.prefault({}).describe('Egress; left out: none'),
    shell_allow: z.array(shellEntry).default([]).describe('Patterns of allowed command lines; left out: no shell'),
    git: git.prefault({}).describe('Git guards'),
    ast: ast.prefault({}).describe('Defaults of code intelligence calls'),
    validators: z.array(validator).default([]).describe('Rules in force and their levels'),
    commands: z
      .record(nameText, commandText)
      .default({})
      .describe(
        'Step (build, lint, fmt, format, test) or rule id → command; lint.fix and the like are proposed, never run. format reads text on standard input, is given the file name as last word and prints the text formatted; format.<language> and build.<language> are for files of one language',
      ),
    protected_branches: globs.default(['main', 'master']).describe('Branches that rules protect; names or globs'),
    test_globs: globs.default([]).describe('Which files are tests'),
    import_rules: z.array(freeMap).default([]).describe('Import boundaries'),
    branch_pattern: patternText.exactOptional().describe('What names of new branches must match'),
    secrets: secrets.prefault({}).describe('What the secrets scan passes over'),
    tools: z.record(nameText, toolSettings).default({}).describe('Tool name → switch and time limits'),
    allowed_tools: globs.exactOptional().describe('Ceiling: only these tools; left out: all, []: none'),
    capabilities: z
      .record(nameText, z.array(nameText))
      .exactOptional()
      .describe('Ceiling: capability → operations; left out: all'),
    side_effect_level: z
      .enum(SIDE_EFFECT_LEVELS)
      .exactOptional()
      .describe('Ceiling; left out: what the rest of the file needs'),
    arg_constraints: z
      .array(argConstraint)
      .exactOptional()
      .describe('Ceiling: globs that arguments must match; a path must match as written and by where links lead'),
    recursion_limit: z.int().min(0).max(1000).exactOptional().describe('Ceiling: depth of child sessions'),
    approvals: approvals.exactOptional().describe('What is asked, approved or refused by rule'),
    isolation: z
      .enum(['bubblewrap', 'none'])
      .default('bubblewrap')
      .describe('Wall around commands; none switches it off'),
    durability: z
      .enum(['normal', 'full'])
      .default('normal')
      .describe(
        'What a power cut may take: normal: about the last second of records and what the kernel had not written of files; full: nothing that was acknowledged, at the price of waiting for the disk. --durability can only raise it',
      ),
    retention: retentionSection
      .prefault({})
      .describe('How long the state folder keeps what it holds; applied once a day'),
    external_tools: externalTools
      .default([])
      .describe('Tools that are programs of their own, pinned in tool-runtime.lock and run by a fixed protocol'),
    mcp_servers: mcpServers
      .default({})
      .describe('Foreign MCP servers whose tools are offered: name → how to reach it and what of it may be used'),
    tool_profiles: z
      .record(nameText, globs)
      .default({})
      .describe('Named lists of tools for MCP clients (--profile): what they are shown, not what is allowed'),
    limits: limits.prefault({}).describe('Limits of the runtime'),
    budgets: budgets.prefault({}).describe('What one session may use up; left out: no budget'),
    coordinator: coordinatorSection
      .exactOptional()
      .describe('How the coordinator is asked, where the runtime was started with one'),
    children: childrenSection
      .prefault({})
      .describe('Child sessions: how many, and whether they may outlive their parent'),
    providers: z.record(nameText, z.unknown()).default({}).describe('Language servers and analyzers by name'),
  })
  .describe('Tool Runtime registry: what an operator allows');

export type RegistryDocument = z.output<typeof registryDocument>;

/** JSON Schema 2020-12 of what may be written. */
export function registryJsonSchema(): JsonObject {
  return z.toJSONSchema(registryDocument, { io: 'input', target: 'draft-2020-12' }) as JsonObject;
}
