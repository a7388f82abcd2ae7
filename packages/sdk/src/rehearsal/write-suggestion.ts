/** A suggested registry as YAML: one line for each thing that is allowed, with the calls it is for. */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { SuggestedLines } from './suggest.ts';

export interface Line {
  readonly value: string;
  readonly calls: readonly string[];
  /** Set where it allows more than the calls did, or asks less than before. */
  readonly note?: string;
}

const SHOWN = 3;

/** `rest`: the other keys, as they are in force. JSON is YAML. */
export function writeSuggestion(lines: SuggestedLines, rest: JsonObject): string {
  const { approvals, insecure, ...others } = rest;
  return [
    '# Made from recorded calls by: tool-runtime policy suggest',
    '# It limits tools, paths, commands and hosts to what these calls used. Other arguments are not limited.',
    'version: 1',
    ...list('allowed_tools', '', lines.tools),
    `side_effect_level: ${lines.level}`,
    ...constraints(lines),
    ...(lines.commands.length === 0 ? [] : list('shell_allow', '', lines.commands)),
    ...network(lines.hosts, insecure),
    ...approvalLines(approvals, lines.approve),
    ...Object.entries(others).flatMap(([key, value]) => [
      '# as in the registry in force',
      `${key}: ${JSON.stringify(value)}`,
    ]),
    '',
  ].join('\n');
}

function list(key: string, indent: string, lines: readonly Line[]): readonly string[] {
  if (lines.length === 0) return [`${indent}${key}: []`];
  return [`${indent}${key}:`, ...lines.map((line) => `${indent}  - ${entry(line)}`)];
}

function entry({ value, calls, note }: Line): string {
  const named = calls.slice(0, SHOWN).join(', ');
  const more = calls.length > SHOWN ? ` and ${calls.length - SHOWN} more` : '';
  return `${JSON.stringify(value)} # for ${named}${more}${note === undefined ? '' : `; ${note}`}`;
}

function constraints({ constraints: all, kept }: SuggestedLines): readonly string[] {
  if (all.length + kept.length === 0) return [];
  return [
    'arg_constraints:',
    ...kept.flatMap((value) => ['  # as in the registry in force', `  - ${JSON.stringify(value)}`]),
    ...all.flatMap(({ tool, key, patterns }) => [
      `  - tool: ${JSON.stringify(tool)}`,
      `    arg_key: ${JSON.stringify(key)}`,
      ...list('arg_patterns', '    ', patterns),
    ]),
  ];
}

function network(hosts: readonly Line[], insecure: JsonValue | undefined): readonly string[] {
  if (hosts.length === 0 && insecure === undefined) return [];
  return [
    'network:',
    ...list('allowed_domains', '  ', hosts),
    ...(insecure === undefined ? [] : [`  insecure_credentials: ${JSON.stringify(insecure)}`]),
  ];
}

function approvalLines(approvals: JsonValue | undefined, approve: readonly Line[]): readonly string[] {
  if (approve.length === 0 && approvals === undefined) return [];
  const others = isJsonObject(approvals) ? Object.entries(approvals).filter(([key]) => key !== 'auto_approve') : [];
  return [
    'approvals:',
    ...list('auto_approve', '  ', approve),
    ...others.flatMap(([key, value]) => ['  # as in the registry in force', `  ${key}: ${JSON.stringify(value)}`]),
  ];
}
