/** ast_external: a question to a language server, or a run of an analyzer, in the sandbox that the registry sets. */
import type { JsonValue } from '@tool-runtime/protocol';
import { defineTool } from '@tool-runtime/sdk';
import { z } from 'zod';
import type { UseServices } from '../plugin/code-services.ts';

/** Runs an analyzer; every other method is one of the language server protocol. */
const SCAN = 'scan';
const TIMEOUT_DEFAULT = 120_000;
const TIMEOUT_MAX = 600_000;

const args = z.strictObject({
  provider: z
    .string()
    .min(1)
    .max(100)
    .describe(
      'Language server (typescript, pyright, gopls, clangd, rust-analyzer…) or analyzer (semgrep, ast-grep, eslint…)',
    ),
  request: z.strictObject({
    method: z
      .string()
      .min(1)
      .max(200)
      .describe('Of the language server protocol, reading ones only; or scan, for an analyzer'),
    params: z
      .json()
      .default({})
      .describe('Of the protocol, files as relative paths or file URIs; for scan: paths, config, timeout_ms'),
  }),
});

const data = z.strictObject({
  provider: z.string(),
  response: z.unknown().describe('As the protocol has it, with relative paths; for scan: findings, notes, exit_code'),
});

export const astExternal = (use: UseServices) =>
  defineTool({
    name: 'ast_external',
    category: 'ast',
    title: 'Ask a language server or analyzer',
    summary: 'Send a reading request to a language server, or run an analyzer such as Semgrep',
    policyNotes: 'Nothing is downloaded; programs run in the sandbox without network; edits are only proposed',
    args,
    data,
    isDataProven: true,
    annotations: {
      kind: 'execute',
      side_effect_level: 'process_exec',
      arg_schema: { required: ['provider', 'request'] },
      capabilities: { ast: ['external'] },
      inline_result: true,
    },
    effect: 'process',
    writes: 'unknown',
    risk: 'high',
    rehearse: 'none',
    timeoutMs: TIMEOUT_DEFAULT,
    maxTimeoutMs: TIMEOUT_MAX,
    needs: ['ast'],
    hasLargeAnswers: true,
    async run({ provider, request }, context) {
      const { method } = request;
      const params = request.params as JsonValue;
      if (method === SCAN) {
        const { runAnalyzer } = await import('./external/run-analyzer.ts');
        return { provider, response: await runAnalyzer({ provider, params }, use(context), context) };
      }
      const { askServer } = await import('./external/ask-server.ts');
      return { provider, response: await askServer({ provider, method, params }, use(context), context) };
    },
  });
