/**
 * What a tool says it needs from others, checked against the runs that lie beside the pack.
 *
 * A needed output is looked for in the newest successful run of its tool, since every run has a folder of its own; the
 * path as it is written counts too. Names come from the tool and are checked before they reach the history.
 */
import type { RunHistory, ToolCapabilities } from '../../contracts/external.ts';
import { isExternalToolName } from '../../contracts/external.ts';
import { shownPath } from '../../platform/descriptors/path-rules.ts';
import { parseResult, validateResult } from '../protocol/read-result.ts';

export interface DependencyError {
  /** Blank when an output's path names no tool. */
  readonly tool: string;
  readonly output?: string;
}

type Needs = Pick<ToolCapabilities, 'requires_tools' | 'requires_outputs'>;

/** Empty when all is there, when nothing is known of the tool, and without a pack: then there is no history. */
export function checkDependencies(capabilities: Needs | undefined, history: RunHistory | undefined): DependencyError[] {
  if (capabilities === undefined || history === undefined) return [];
  const newest = createLookup(history);
  const tools = capabilities.requires_tools.filter((tool) => newest(tool) === undefined);
  const outputs = capabilities.requires_outputs.filter((output) => !hasOutput(output, history, newest));
  return [...tools.map((tool) => ({ tool })), ...outputs.map((output) => ({ tool: toolOf(output), output }))];
}

type Lookup = (tool: string) => string | undefined;

/** The newest run that ended in `success`; each tool is looked up once. */
function createLookup(history: RunHistory): Lookup {
  const found = new Map<string, string | undefined>();
  return (tool) => {
    if (!found.has(tool)) found.set(tool, newestSuccess(tool, history));
    return found.get(tool);
  };
}

function newestSuccess(tool: string, history: RunHistory): string | undefined {
  if (!isExternalToolName(tool)) return undefined;
  return history.runsOf(tool).find((runId) => isSuccess(history.readResult(tool, runId)));
}

function isSuccess(file: ReturnType<RunHistory['readResult']>): boolean {
  if (typeof file === 'string') return false;
  try {
    return validateResult(parseResult(file)).status === 'success';
  } catch {
    // An unreadable result proves no success; its run has reported why.
    return false;
  }
}

function hasOutput(output: string, history: RunHistory, newest: Lookup): boolean {
  const parts = safeParts(output);
  const [tool, ...rest] = parts;
  if (tool === undefined || rest.length === 0 || !isExternalToolName(tool)) return false;
  const runId = newest(tool);
  return (runId !== undefined && history.hasOutput([tool, runId, ...rest])) || history.hasOutput(parts);
}

/** Empty for a path that could lead anywhere but down. */
function safeParts(path: string): string[] {
  const parts = path.split('/');
  const isSafe = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\0]/.test(part));
  return isSafe ? parts : [];
}

function toolOf(output: string): string {
  const [tool = ''] = safeParts(output);
  return isExternalToolName(tool) ? tool : '';
}

/** One line for people; blank when nothing is missing. */
export function formatDependencyErrors(missing: readonly DependencyError[]): string {
  const tools = [...new Set(missing.map(({ tool }) => shownPath(tool)).filter((tool) => tool !== ''))].sort();
  const outputs = missing.flatMap(({ output }) => (output === undefined ? [] : [shownPath(output)]));
  const [first] = tools;
  if (tools.length > 1) {
    const tail = outputs.length === 0 ? '' : `; outputs not found: ${outputs.join(', ')}`;
    return `Required tools have not run successfully: ${tools.join(', ')}${tail}`;
  }
  if (first !== undefined && outputs.length > 0) return `Required output of ${first} not found: ${outputs.join(', ')}`;
  if (first !== undefined) return `Required tool has not run successfully: ${first}`;
  return outputs.length === 0 ? '' : `Required outputs not found: ${outputs.join(', ')}`;
}
