/** proc_list: running processes, most memory first, command lines redacted. */
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { compilePattern, patternProblem } from '../../pattern/compile-pattern.ts';
import { listProcesses } from '../../platform/processes/process-list.ts';
import { counted, shownName } from '../../present/rows.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 10_000;
const COMMAND_CHARS = 1000;

const args = z.strictObject({
  filter: z.string().min(1).optional().describe('Regular expression (RE2 syntax) searched in the command line'),
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe('Processes to return at most'),
});

const data = z.strictObject({
  processes: z.array(
    z.strictObject({
      pid: z.int(),
      cmd: z.string().describe('Command line, secrets redacted'),
      cpu: z.number().describe('Per cent of one CPU since the process started'),
      mem_mb: z.number().describe('Resident memory in MiB'),
    }),
  ),
  truncated: z.boolean().describe('True when more processes matched than were returned'),
});

export const procList = defineTool({
  name: 'proc_list',
  category: 'proc',
  title: 'List processes',
  summary: 'List running processes by command line',
  policyNotes: 'Secrets in command lines are redacted; at most 50 rows unless asked for more',
  args,
  data,
  annotations: {
    kind: 'read',
    side_effect_level: 'read_only',
    capabilities: { processes: ['list'] },
  },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 10_000,
  present: presentProcesses,
  run({ filter, limit }, { redactCommand }) {
    const matches = compileFilter(filter);
    const found = listProcesses()
      .map(({ words, ...rest }) => ({ ...rest, command: redactCommand(words) }))
      // The filter sees what the caller will see: it cannot be used to guess at what was redacted.
      .filter(({ command }) => matches(command))
      .sort((a, b) => b.memoryMb - a.memoryMb || a.pid - b.pid);
    return {
      processes: found.slice(0, limit).map(({ pid, command, cpuPercent, memoryMb }) => ({
        pid,
        cmd: command.slice(0, COMMAND_CHARS),
        cpu: cpuPercent,
        mem_mb: memoryMb,
      })),
      truncated: found.length > limit,
    };
  },
});

function compileFilter(filter: string | undefined): (text: string) => boolean {
  if (filter === undefined) return () => true;
  const problem = patternProblem(filter);
  if (problem !== undefined) {
    throw new ToolError('E_VALIDATION_FAIL', problem, { path: 'filter', details: { next: 'use RE2 syntax' } });
  }
  const pattern = compilePattern(filter);
  return (text) => pattern.test(text);
}

function presentProcesses({ processes, truncated }: z.output<typeof data>): ToolText {
  const rows = processes.map(({ pid, cmd, cpu, mem_mb }) => `${pid}: ${cpu}% cpu, ${mem_mb} MiB: ${shownName(cmd)}`);
  const more = truncated ? ', not all shown' : '';
  return { head: `${counted(processes.length, 'process', 'processes')}${more}`, parts: [{ type: 'text', text: rows }] };
}
