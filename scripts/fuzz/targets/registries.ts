/** Registries: any text loads or is refused with its lines, and what loads never widens what it is narrowed by. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { Registry } from '../../../packages/sdk/src/contracts/registry.ts';
import type { RuleFacts } from '../../../packages/sdk/src/contracts/rule.ts';
import { defaultRegistry } from '../../../packages/sdk/src/registry/build-registry.ts';
import { loadRegistry } from '../../../packages/sdk/src/registry/load-registry.ts';
import { narrowRegistry } from '../../../packages/sdk/src/registry/narrow-registry.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { joinParts, splitParts } from '../input-parts.ts';
import { writtenRegistry } from '../registry/odd-registries.ts';
import { broughtBy, figuresOf, grantsOf, probesOf } from '../registry/registry-grants.ts';

const FILE = 'fuzzed.yaml';
const MAX_MESSAGE_LENGTH = 2_000;
const RULES = new URL('../../../packages/sdk/src/registry/fixtures/rules.json', import.meta.url);
const TIMEOUTS: ReadonlyMap<string, number> = new Map([['grep', 10_000]]);

type Load = (text: string) => Registry;

export const registries: FuzzTarget = {
  name: 'registries',
  holds:
    'a registry loads frozen or is refused with file and line, and narrowing grants nothing that either side does not',
  maxBytes: 70 * 1024,
  tokens: [
    'version: 1\n',
    '- ',
    ': ',
    '\n  ',
    '[',
    ']',
    '{',
    '}',
    ', ',
    '&a ',
    '*a',
    '<<: ',
    '!!str ',
    '!x ',
    '---\n',
    '...\n',
    '%YAML 1.1\n',
  ].concat(
    [
      '|\n',
      '>-\n',
      '? ',
      '"',
      "'",
      '# ',
      '\\s',
      '\\x',
      '~',
      'null',
      'true',
      'yes',
      '0o17',
      '.inf',
      '.nan',
      '1e999',
      '__proto__: ',
      '\t',
      '\r\n',
    ],
    [
      'network:\n  allowed_domains: ',
      'shell_allow:\n  - ',
      "'^npm'",
      'git: ',
      'allow_push: true',
      'tools: ',
      'approvals:\n  auto_approve: ["*"]\n',
    ],
    [
      'mcp_servers:\n  srv:\n    command: [x]\n',
      'external_tools:\n  - name: a\n',
      'allowed_tools: ',
      'validators:\n  - rule: ',
      'limits: ',
      '\n%%\n',
    ],
  ),
  inputs: fc
    .tuple(writtenRegistry, fc.option(writtenRegistry, { nil: undefined }))
    .map(([session, host]) => (host === undefined ? Buffer.from(session) : joinParts(session, host))),
  open() {
    const facts = JSON.parse(readFileSync(RULES, 'utf8')) as RuleFacts[];
    const rules = new Map(facts.map((rule) => [rule.id, rule]));
    const load: Load = (text) => loadRegistry(text, { file: FILE, rules, tools: undefined, engines: new Set() });
    const defaults = defaultRegistry();
    return {
      check(input) {
        const [session = '', host = ''] = splitParts(input, 2).map(String);
        const loaded = judge(load, session);
        if (typeof loaded === 'string') return loaded;
        const other = host === '' ? 'no host' : judge(load, host);
        const outcomes = [defaults, ...(typeof other === 'string' ? [] : [other])].map((outer) =>
          narrow(outer, loaded),
        );
        return `loaded, ${outcomes.join(', ')}`;
      },
      measure(input) {
        judge(load, input.toString('utf8'));
      },
    };
  },
};

/** The registry, or the reason why it was refused. */
function judge(load: Load, text: string): Registry | string {
  let registry: Registry;
  try {
    registry = load(text);
  } catch (thrown) {
    checkRefusal(thrown, text);
    const problems = (thrown as { details: { problems: readonly { message: string }[] } }).details.problems;
    return (problems[0]?.message ?? '').split(':', 1)[0] ?? '';
  }
  checkFrozen(registry, new Set());
  assert.equal(load(text).fingerprint, registry.fingerprint);
  return registry;
}

function checkRefusal(thrown: unknown, text: string): void {
  assert.ok(isToolError(thrown), `not a ToolError: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
  assert.equal(thrown.code, 'E_VALIDATION_FAIL');
  assert.match(String(thrown.details['registry']), /^fuzzed\.yaml:\d+$/);
  const lines = text.split(/\r\n|\n|\r/).length;
  const problems = thrown.details['problems'] as readonly { line: number; column: number; message: string }[];
  assert.ok(problems.length > 0, 'refused without a problem');
  for (const { line, column, message } of problems) {
    assert.ok(line >= 1 && line <= lines && column >= 1, `line ${line} of ${lines}, column ${column}: ${message}`);
    checkLength(message);
  }
}

function checkLength(message: string): void {
  assert.ok(message.length > 0 && message.length < MAX_MESSAGE_LENGTH, `a message of ${message.length} characters`);
}

function checkFrozen(value: unknown, seen: Set<unknown>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  assert.ok(Object.isFrozen(value), 'part of it can be changed');
  if (value instanceof Map) {
    assert.throws(() => value.set('x', 1), TypeError);
    for (const inner of value.values()) checkFrozen(inner, seen);
  }
  for (const inner of Object.values(value)) checkFrozen(inner, seen);
}

function narrow(host: Registry, session: Registry): string {
  const options = { toolTimeouts: TIMEOUTS };
  const trimmed = narrowRegistry(host, session, { ...options, overreach: 'warn' });
  checkFrozen(trimmed, new Set());
  checkNarrower(trimmed, host, session);
  for (const { message } of trimmed.warnings) checkLength(message);
  const isNamed = trimmed.warnings.some(({ details }) => details?.['reason'] === 'registry_overreach');
  try {
    narrowRegistry(host, session, { ...options, overreach: 'error' });
    assert.ok(!isNamed, 'overreach is named but not refused');
    return 'inside';
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_POLICY', `not a refusal: ${String(thrown)}`);
    checkLength(thrown.message);
    assert.ok(isNamed, 'refused, but nothing is named');
    return 'overreach';
  }
}

function checkNarrower(result: Registry, host: Registry, session: Registry): void {
  const probes = probesOf([host, session]);
  const granted = grantsOf(result, probes);
  for (const side of [host, session]) {
    const given = grantsOf(side, probes);
    const isOpen = given.has('all capabilities');
    const added = [...granted].filter((word) => !given.has(word) && !(isOpen && word.startsWith('capability ')));
    assert.deepEqual(added, [], `granted beyond the ${side === host ? 'host' : 'session'}`);
    const [ours, both] = [figuresOf(side, probes), figuresOf(result, probes)];
    // A session that says nothing about approvals leaves them to the host.
    const isLeft = side === session && session.approvals === undefined;
    const higher = Object.keys(ours).filter(
      (name) => (both[name] ?? 0) > (ours[name] ?? 0) && !(isLeft && name.startsWith('approval of foreign')),
    );
    assert.deepEqual(higher, [], `higher than the ${side === host ? 'host' : 'session'} has it`);
  }
  const brought = broughtBy(host);
  assert.deepEqual(
    [...broughtBy(result)].filter((word) => !brought.has(word)),
    [],
    'brought in by the session',
  );
}
