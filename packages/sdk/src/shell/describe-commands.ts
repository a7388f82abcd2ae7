/** What command lines of a session may hold, in few words: models read this before they write one. */
import { safeText } from '@tool-runtime/protocol/internal';
import type { CompiledPattern, Registry } from '../contracts/registry.ts';
import { programOf } from './pattern-reach.ts';

type Settings = Pick<Registry, 'shell' | 'shellAllow' | 'shellDeny' | 'shellAsk' | 'allowedDomains'>;

const MAX_NAMED = 12;

export function describeCommands(registry: Settings): string {
  return registry.shell.mode === 'sandboxed' ? describeScripts(registry) : describePlain(registry);
}

function describePlain({ shellAllow, shellDeny, shellAsk }: Settings): string {
  if (shellAllow.length === 0) return 'No command is allowed here: the registry has no shell_allow';
  return sentences(
    `Programs allowed: ${programs(shellAllow)}`,
    ...lists(shellDeny, shellAsk),
    'Plain commands joined by &&, ||, ; or |: no redirection, globs, $VAR, cd or VAR=',
    'Use cwd, env, stdin and yield_after_ms instead, and git_* for git',
  );
}

function describeScripts({ shell, shellAllow, shellDeny, shellAsk, allowedDomains }: Settings): string {
  return sentences(
    'Any bash line, run inside the sandbox',
    shellAllow.length === 0 ? 'Any program' : `Programs allowed: ${programs(shellAllow)}`,
    ...lists(shellDeny, shellAsk),
    ...(shell.unseen === 'deny' ? ['No eval, computed program names or scripts of the workspace'] : []),
    allowedDomains.length === 0 ? 'No network' : `Network only with allow_network: ${named(allowedDomains)}`,
    '.git is read-only: change it with git_*',
    'What runs in the background ends with the call: start servers with yield_after_ms',
  );
}

function lists(deny: readonly CompiledPattern[], ask: readonly CompiledPattern[]): readonly string[] {
  return [
    ...(deny.length === 0 ? [] : [`Never allowed: ${named(deny.map(({ source }) => source))}`]),
    ...(ask.length === 0 ? [] : [`Needs approval: ${named(ask.map(({ source }) => source))}`]),
  ];
}

/** By name where the pattern has one. */
function programs(patterns: readonly CompiledPattern[]): string {
  return named(patterns.map(({ source }) => programOf(source) || source));
}

function named(all: readonly string[]): string {
  const names = [...new Set(all)];
  const shown = names.slice(0, MAX_NAMED).map((name) => safeText(name, 60));
  return `${shown.join(', ')}${names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''}`;
}

function sentences(...parts: readonly string[]): string {
  return parts.join('. ');
}

const MAX_LISTED = 8;

/**
 * What an allowlist allows, in the words of a refusal.
 *
 * The first pattern for this program.
 */
export function nearestPattern(program: string, allow: readonly CompiledPattern[]): string | undefined {
  return allow.find(({ source }) => programOf(source) === program)?.source;
}

export function describeAllowed(program: string, allow: readonly CompiledPattern[]): string {
  if (allow.length === 0) return 'no command is allowed; the operator lists patterns in shell_allow';
  const nearest = nearestPattern(program, allow);
  if (nearest !== undefined) return `for ${program} is allowed: ${safeText(nearest, 120)}`;
  const sources = allow.slice(0, MAX_LISTED).map(({ source }) => safeText(source, 120));
  return `allowed are: ${sources.join('  ')}${allow.length > MAX_LISTED ? `  and ${allow.length - MAX_LISTED} more` : ''}`;
}
