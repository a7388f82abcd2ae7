/** Everything a registry grants, as words and figures that can be compared: narrowing may only take words and lower figures. */
import { SIDE_EFFECT_LEVELS, sideEffectRank, TOOL_KINDS } from '../../../packages/sdk/src/contracts/annotations.ts';
import { ENFORCEMENTS } from '../../../packages/sdk/src/contracts/classes.ts';
import type { Registry } from '../../../packages/sdk/src/contracts/registry.ts';
import { hostAllowed } from '../../../packages/sdk/src/egress/domain-entry.ts';
import { compileGlobs } from '../../../packages/sdk/src/glob/match-glob.ts';
import { type ApprovalSubject, compileApprovalPolicy } from '../../../packages/sdk/src/policy/approval-policy.ts';

/** What is asked of the registries: a few usual things, and whatever they name themselves. */
export interface Probes {
  readonly hosts: readonly string[];
  readonly lines: readonly string[];
  readonly tools: readonly string[];
  readonly paths: readonly string[];
  readonly rules: readonly string[];
}

const LINES = ['npm', 'npm test', 'npm test && curl x', 'cargo build', 'ls', 'a', 'git push', ''];
const TOOLS = ['file_read', 'file_write', 'fs_list', 'grep', 'shell_exec', 'git_push', 'srv_run', 'other'];
const PATHS = ['src/a.ts', 'src', '.git/config', 'docs/x/y', 'a'];
const MAX_PROBES = 20;

export function probesOf(registries: readonly Registry[]): Probes {
  const domains = registries.flatMap(({ allowedDomains }) => allowedDomains);
  const names = registries.flatMap(({ tools, ceiling, approvals, mcpServers }) => [
    ...tools.keys(),
    ...(ceiling.tools ?? []),
    ...(approvals?.auto_approve ?? []),
    ...(approvals?.auto_deny ?? []),
    ...(approvals?.require_approval ?? []),
    ...[...mcpServers.values()].map(({ prefix }) => `${prefix}_run`),
  ]);
  return {
    hosts: some(domains.flatMap(hostsBelow)),
    lines: LINES,
    tools: some([...TOOLS, ...names.map((name) => name.replaceAll('*', 'x'))]),
    paths: PATHS,
    rules: some(registries.flatMap(({ validators }) => [...validators.keys()])),
  };
}

function some(list: readonly string[]): readonly string[] {
  return [...new Set(list)].slice(0, MAX_PROBES);
}

function hostsBelow(entry: string): readonly string[] {
  const name = entry.replace(/^\*\./, '');
  const port = /:\d+$/.test(name) && !name.endsWith(']') ? [] : ['80', '443', '8080'];
  return [name, `x.${name}`, `x.y.${name}`].flatMap((host) => [host, ...port.map((each) => `${host}:${each}`)]);
}

function mayRun({ shell, shellAllow, shellDeny }: Registry, line: string): boolean {
  if (shellDeny.some(({ test }) => test(line))) return false;
  const isOpen = shell.mode === 'sandboxed' && shellAllow.length === 0;
  return isOpen || shellAllow.some(({ test }) => test(line));
}

export function grantsOf(registry: Registry, probes: Probes): ReadonlySet<string> {
  const { git, ceiling } = registry;
  const usable = ceiling.tools === undefined ? () => true : compileGlobs(ceiling.tools);
  const capabilities = Object.entries(ceiling.capabilities ?? {});
  return new Set([
    ...probes.hosts
      .filter((host) => hostAllowed(registry.allowedDomains, host) !== undefined)
      .map((host) => `host ${host}`),
    ...probes.lines.filter((line) => mayRun(registry, line)).map((line) => `line ${line}`),
    ...(registry.shell.mode === 'sandboxed' ? ['scripts'] : []),
    ...probes.tools
      .filter((tool) => usable(tool) && registry.tools.get(tool)?.enabled !== false)
      .map((tool) => `tool ${tool}`),
    ...(git.allow_push ? ['push'] : []),
    ...(git.allow_force_push ? ['forced push'] : []),
    ...(git.signing === 'agent' ? ['sign'] : []),
    ...(git.require_clean_tree_for_commit ? [] : ['dirty commit']),
    ...git.allow_config.map((key) => `config ${key}`),
    ...Object.entries(git.credentials).map(([host, name]) => `credential ${host} ${name}`),
    ...(registry.isolation === 'none' ? ['no isolation'] : []),
    ...(registry.children.allow_detach ? ['detach'] : []),
    ...(registry.branchPattern?.test('any/name') === false ? [] : ['branch any/name']),
    ...(ceiling.capabilities === undefined ? ['all capabilities'] : []),
    ...(ceiling.capabilities === undefined
      ? []
      : capabilities.flatMap(([name, operations]) => operations.map((operation) => `capability ${name}.${operation}`))),
  ]);
}

/** Programs, servers and exceptions: only the host's own word gives them, the session's list may leave some out. */
export function broughtBy(registry: Registry): ReadonlySet<string> {
  return new Set([
    ...registry.externalTools.map((tool) => `external ${JSON.stringify(tool)}`),
    ...[...registry.mcpServers].map(([name, { tools: _, ...server }]) => `server ${name} ${JSON.stringify(server)}`),
    ...Object.entries(registry.providers).map(([name, provider]) => `provider ${name} ${JSON.stringify(provider)}`),
    ...Object.entries(registry.commands).map(([name, command]) => `command ${name} ${command}`),
    ...registry.secrets.allow.map((hash) => `exception ${hash}`),
  ]);
}

/** Lower is stricter. */
export function figuresOf(registry: Registry, probes: Probes): Readonly<Record<string, number>> {
  const { limits, budgets, ceiling, children } = registry;
  const weakness = (rule: string): number => {
    const validator = registry.validators.get(rule);
    return validator === undefined ? ENFORCEMENTS.length : ENFORCEMENTS.indexOf(validator.enforcement);
  };
  return {
    ...limits,
    max_children: children.max_children,
    max_calls: budgets.max_calls ?? Number.POSITIVE_INFINITY,
    max_bytes: budgets.max_bytes ?? Number.POSITIVE_INFINITY,
    max_duration_ms: budgets.max_duration_ms ?? Number.POSITIVE_INFINITY,
    recursion_limit: ceiling.recursion_limit ?? Number.POSITIVE_INFINITY,
    side_effect_level: sideEffectRank(ceiling.side_effect_level ?? 'network'),
    unseen: ['deny', 'ask', 'allow'].indexOf(registry.shell.unseen),
    unasked: -new Set(registry.shellAsk.map(({ source }) => source)).size,
    unprotected: -new Set(registry.protectedBranches).size,
    unanswered: -registry.coordinator.required.length,
    ...Object.fromEntries(probes.rules.map((rule) => [`rule ${rule}`, weakness(rule)])),
    ...verdictsOf(registry, probes),
  };
}

const OPENNESS = { deny: 0, ask: 1, approve: 2 } as const;

/** What would become of calls of all kinds. */
function verdictsOf({ approvals }: Registry, { tools, paths }: Probes): Readonly<Record<string, number>> {
  const judge = compileApprovalPolicy(approvals);
  const verdicts: Record<string, number> = {};
  for (const tool of tools) {
    for (const [index, kind] of TOOL_KINDS.entries()) {
      const level = SIDE_EFFECT_LEVELS[index % SIDE_EFFECT_LEVELS.length] ?? 'none';
      for (const word of ['known', 'foreign', 'unannotated'] as const) {
        const subject: ApprovalSubject = {
          tool,
          annotated: word !== 'unannotated',
          asksByDefault: word === 'foreign',
          profile: { kind, side_effect_level: level } as ApprovalSubject['profile'],
          paths: paths.slice(index % 3),
        };
        verdicts[`approval of ${word} ${kind} ${tool}`] = OPENNESS[judge.judge(subject).verdict];
      }
    }
  }
  return verdicts;
}
