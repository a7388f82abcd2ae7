import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { PolicyRef } from '../contracts/refs.ts';
import { sha256Hex } from '../platform/digest.ts';
import {
  buildChildPackage,
  type ChildPackageInput,
  type ChildPackagePolicy,
  childPackageDefaults,
  PARENT_CONTROL_TOOLS,
} from './build-child-package.ts';
import { fingerprintManifest } from './canonical-package.ts';
import type { CapabilitySpec } from './capability.ts';
import type { DeclaredEffect } from './child-tool-policy.ts';
import { compilePackage } from './compile-package.ts';
import type { ContextHandoff } from './context-handoff.ts';
import { fingerprintPackage } from './fingerprint.ts';
import { manifestHash, manifestSidecar } from './package-parts.ts';
import { buildSnapshot } from './registry-snapshot.ts';
import { createPackage, type RuntimePackage } from './runtime-package.ts';
import { validatePackage } from './validate-package.ts';

const compiled = compilePackage({
  packageId: 'package.parent',
  agentId: 'agent.parent',
  registryFingerprint: 'sha256:cc',
  tools: (
    [
      ['file_write', 'write'],
      ['file_read', 'read'],
      ['shell', 'process'],
      ['curl', 'network'],
      ['unannotated', 'read'],
      ['subagent_monitor', 'read'],
    ] as const
  ).map(([name, effect]) => ({ name, effect, risk: 'low', schemaDigest: `sha256:${name}` })),
});
const annotations = new Map<string, DeclaredEffect>([
  ['tool.file_write', { kind: 'edit', side_effect_level: 'workspace_write' }],
  ['tool.file_read', { kind: 'read', side_effect_level: 'read_only' }],
  ['tool.shell', { kind: 'execute', side_effect_level: 'process_exec' }],
  ['tool.curl', { kind: 'fetch', side_effect_level: 'network' }],
  ['tool.subagent_monitor', { kind: 'read', side_effect_level: 'read_only' }],
]);

const [sample] = compiled.package.capabilities as [CapabilitySpec];
const { executor_ref: _executor, ...inert } = sample;
const reserved = (capability_id: string, kind: CapabilitySpec['kind']): CapabilitySpec => ({
  ...inert,
  capability_id,
  kind,
  visibility: 'hidden',
  projection: { type: 'not_projected' },
  readiness: { status: 'reserved_inactive' },
});
const behaviour: PolicyRef = { kind: 'context', id: 'policy.behaviour' };
const parent = createPackage({
  ...compiled.package,
  agent: { agent_id: 'agent.parent', name: 'The parent', default_behavior_refs: [behaviour] },
  provider_route: {
    route_id: 'route.parent',
    model_id: 'model.parent',
    provider_policy_ref: { kind: 'permission', id: 'policy.provider' },
  },
  capabilities: [
    ...compiled.package.capabilities,
    reserved('agent.helper', 'agent_as_tool'),
    reserved('mcp.resource', 'mcp_resource'),
  ],
  volatile: { run_id: 'run.parent', temporary_path: '/tmp/parent' },
});

const policyFor = (pkg: RuntimePackage): ChildPackagePolicy => childPackageDefaults(fingerprintPackage(pkg));
const childPolicy: ChildPackagePolicy = { ...policyFor(parent), allowed_route_overrides: ['route.cheap'] };
const base: ChildPackageInput = {
  parent,
  routes: compiled.routes,
  annotations,
  childAgentId: 'agent.child',
  routePolicy: { type: 'inherit_parent' },
  childPolicy,
  handoff: { type: 'none' },
  toolPolicy: { type: 'read_only' },
};
const build = (changes: Partial<ChildPackageInput> = {}) => buildChildPackage({ ...base, ...changes });
const idsOf = (pkg: RuntimePackage) => pkg.capabilities.map((capability) => capability.capability_id).sort();
const context: PolicyRef = { kind: 'context', id: 'policy.handoff' };
const selected: ContextHandoff = { type: 'selected_refs', refs: [{ id: 'content.private' }], policy_ref: context };
const refused = (field: string) => ({ code: 'E_VALIDATION_FAIL', message: new RegExp(`: ${field}$`) });

describe('the checks of buildChildPackage', () => {
  test('come in their order: each fault hides those behind it [S3-29 S3-30 S3-31]', () => {
    const toolPolicy = { type: 'custom_allowlist', capability_ids: ['tool.none'] } as const;
    const routePolicy = { type: 'use_allowed_override', route_id: 'route.dear', model_id: 'model.dear' } as const;
    const handoff: ContextHandoff = { ...selected, policy_ref: { kind: 'host', id: 'policy.host' } };
    const withPolicy = (input: ChildPackageInput, changes: Partial<ChildPackagePolicy>): ChildPackageInput => ({
      ...input,
      childPolicy: { ...input.childPolicy, ...changes },
    });
    const faults: readonly [string, (input: ChildPackageInput) => ChildPackageInput][] = [
      ['runtime_package.package_id', (input) => ({ ...input, parent: createPackage({ ...parent, package_id: '' }) })],
      ['handoff.selected_refs.policy_ref', (input) => ({ ...input, handoff })],
      ['strip_recursive_subagents', (input) => withPolicy(input, { strip_recursive_subagents: false })],
      ['source_parent_package', (input) => withPolicy(input, { source_parent_package: 'sha256:other' })],
      ['subagent.route_override.route_id', (input) => ({ ...input, routePolicy })],
      ['child_agent_id', (input) => ({ ...input, childAgentId: '' })],
      ['tool_policy.capability_ids', (input) => ({ ...input, toolPolicy })],
    ];
    for (const [at, [field, spoil]] of faults.entries()) {
      assert.throws(() => buildChildPackage(spoil(base)), refused(field));
      const spoilt = faults.slice(at).reduce((input, [, next]) => next(input), base);
      assert.throws(() => buildChildPackage(spoilt), refused(field));
    }
    buildChildPackage(base);
  });

  test('refuses a switched-off recursion flag whatever else the policy says [S3-30]', () => {
    for (const strip of [false, undefined, 1]) {
      const policy = { ...childPolicy, strip_recursive_subagents: strip as boolean, parent_control_tool_ids: [] };
      for (const type of ['no_tools', 'inherit_allowlist', 'read_only'] as const) {
        assert.throws(() => build({ childPolicy: policy, toolPolicy: { type } }), {
          ...refused('strip_recursive_subagents'),
          details: { kind: 'invalid_state_transition', retry: 'repair_needed', field: 'strip_recursive_subagents' },
        });
      }
    }
  });

  test('refuses a policy made for what the parent was before [S3-31]', () => {
    const next = createPackage({ ...parent, capabilities: parent.capabilities.slice(1) });
    assert.throws(() => build({ parent: next }), refused('source_parent_package'));
    build({ parent: next, childPolicy: policyFor(next) });
    const renamed = createPackage({ ...parent, volatile: {} });
    build({ parent: renamed });
  });

  test('refuses malformed child agent ids, or leave no room for a package id [S3-32]', () => {
    for (const childAgentId of ['', 'a\nb', 'a'.repeat(513)]) {
      assert.throws(() => build({ childAgentId }), refused('child_agent_id'));
    }
    assert.throws(() => build({ childAgentId: 'a'.repeat(500) }), refused('runtime_package.package_id'));
    build({ childAgentId: 'a'.repeat(478) });
  });

  test('refuses an allowlist that reaches beyond the parent, applied or not [S3-23]', () => {
    const toolPolicy = { type: 'custom_allowlist', capability_ids: ['tool.file_read', 'tool.more'] } as const;
    for (const strip_disallowed_tools of [true, false]) {
      assert.throws(() => build({ toolPolicy, childPolicy: { ...childPolicy, strip_disallowed_tools } }), {
        ...refused('tool_policy.capability_ids'),
        message: /does not have/,
      });
    }
  });

  test('refuses a child that would not be valid [S3-41]', () => {
    const bad = { kind: 'redaction', id: '' } as const;
    assert.throws(() => build({ childPolicy: { ...childPolicy, redaction_policy_ref: bad } }), {
      code: 'E_VALIDATION_FAIL',
    });
  });
});

describe('the package of a child', () => {
  const { package: child } = build();

  test('is named for the agent and for the parent it was cut from [S3-32]', () => {
    const suffix = sha256Hex(fingerprintPackage(parent)).slice(0, 16);
    assert.equal(child.package_id, `package.subagent.agent.child.${suffix}`);
    assert.match(suffix, /^[0-9a-f]{16}$/);
  });

  test('names the child agent twice and keeps the behaviour of the parent [S3-33]', () => {
    assert.deepEqual(child.agent, {
      agent_id: 'agent.child',
      name: 'agent.child',
      default_behavior_refs: [behaviour],
    });
  });

  test('has the selected route and the bounds of its policy [S3-12 S3-15 S3-34]', () => {
    assert.deepEqual(child.provider_route, parent.provider_route);
    assert.deepEqual(child.child_lifecycle, {
      ...parent.child_lifecycle,
      policy_ref: childPolicy.child_lifecycle_bounds,
      detach_policy_ref: childPolicy.child_lifecycle_bounds,
    });
    const cheap = { route_id: 'route.cheap', model_id: 'model.cheap' };
    const overridden = build({ routePolicy: { type: 'use_allowed_override', ...cheap } });
    assert.deepEqual(overridden.package.provider_route, cheap);
    assert.equal(overridden.manifest.selected_provider_route_id, 'route.cheap');
  });

  test('keeps what its tool policy grants [S3-20 S3-21 S3-22 S3-23 S3-35]', () => {
    const always = ['mcp.resource'];
    const inherited = ['tool.curl', 'tool.file_read', 'tool.file_write', 'tool.shell', 'tool.unannotated'];
    for (const [toolPolicy, kept] of [
      [{ type: 'inherit_allowlist' }, inherited],
      [{ type: 'read_only' }, ['tool.file_read']],
      [{ type: 'no_tools' }, []],
      [{ type: 'custom_allowlist', capability_ids: ['tool.curl', 'tool.shell'] }, ['tool.curl', 'tool.shell']],
      [{ type: 'custom_allowlist', capability_ids: ['tool.subagent_monitor', 'agent.helper'] }, []],
      [{ type: 'custom_allowlist', capability_ids: [] }, []],
    ] as const) {
      assert.deepEqual(idsOf(build({ toolPolicy }).package), [...always, ...kept]);
    }
  });

  test('is read-only and gets nothing by default [S3-19 S3-21 S3-1]', () => {
    const { handoff: _handoff, toolPolicy: _tools, ...rest } = base;
    assert.deepEqual(buildChildPackage(rest), build());
  });

  test('loses readers whose routes are unknown or write under another name [S3-21]', () => {
    const alias = (effect_class: 'read' | 'write') => ({
      ...compiled.routes.find((route) => route.capability_id === 'tool.file_read')!,
      canonical_tool_name: 'alias',
      effect_class,
    });
    const keeps = (changes: Partial<ChildPackageInput>) => idsOf(build(changes).package).includes('tool.file_read');
    assert.deepEqual(
      [
        keeps({ routes: [] }),
        keeps({ annotations: new Map() }),
        keeps({ routes: [...compiled.routes, alias('write')] }),
        keeps({ routes: [...compiled.routes, alias('read')] }),
      ],
      [false, false, false, true],
    );
  });

  test('without stripping by policy it still loses agents and parent control [S3-24 S3-35]', () => {
    for (const type of ['no_tools', 'read_only', 'inherit_allowlist'] as const) {
      const { manifest } = build({
        toolPolicy: { type },
        childPolicy: { ...childPolicy, strip_disallowed_tools: false },
      });
      assert.deepEqual(manifest.stripped_capability_ids, ['agent.helper', 'tool.subagent_monitor']);
    }
  });

  test('loses each of the parent-control ids, and those its policy lists instead [S3-18 S3-35]', () => {
    const controls = compilePackage({
      packageId: 'package.parent',
      agentId: 'agent.parent',
      registryFingerprint: 'sha256:cc',
      tools: [...PARENT_CONTROL_TOOLS, 'tool.plain'].map((id) => ({
        name: id.slice('tool.'.length),
        effect: 'read',
        risk: 'low',
        schemaDigest: 'sha256:aa',
      })),
    });
    const input = { ...controls, parent: controls.package, toolPolicy: { type: 'inherit_allowlist' } } as const;
    const policy = policyFor(controls.package);
    assert.deepEqual(idsOf(build({ ...input, childPolicy: policy }).package), ['tool.plain']);
    const other = { ...policy, parent_control_tool_ids: ['tool.plain'] };
    assert.deepEqual(idsOf(build({ ...input, childPolicy: other }).package), [...PARENT_CONTROL_TOOLS].sort());
  });

  test('leaves what stays exactly as the parent has it [S3-35]', () => {
    const { package: whole } = build({ toolPolicy: { type: 'inherit_allowlist' } });
    for (const capability of whole.capabilities) assert.ok(parent.capabilities.some((one) => same(one, capability)));
    const { package_id, agent, child_lifecycle, capabilities, sidecars, policies, ...rest } = whole;
    for (const [key, value] of Object.entries(rest)) {
      if (key === 'volatile' || key === 'fingerprint_manifest') continue;
      assert.deepEqual(value, parent[key as keyof RuntimePackage], key);
    }
  });

  function same(a: unknown, b: unknown): boolean {
    return JSON.stringify(a) === JSON.stringify(b);
  }

  test('is told nothing of the run of its parent, and never what a handoff points at [S3-10]', () => {
    for (const handoff of [{ type: 'none' }, selected] as const) {
      const text = JSON.stringify(build({ handoff }));
      for (const word of ['run.parent', '/tmp/parent', 'package.parent', 'agent.parent', 'content.private']) {
        assert.ok(!text.includes(word), word);
      }
    }
    assert.deepEqual(child.volatile, {});
  });

  test('is governed by its redaction policy, which is added once [S3-40]', () => {
    const refs = parent.policies.policy_refs;
    assert.deepEqual(child.policies.policy_refs, [...refs, childPolicy.redaction_policy_ref]);
    const governed = createPackage({ ...parent, policies: child.policies });
    const again = build({ parent: governed, childPolicy: policyFor(governed) }).package;
    assert.deepEqual(again.policies.policy_refs, child.policies.policy_refs);
    const redaction_policy_ref = { ...childPolicy.redaction_policy_ref, version: '2' };
    const versioned = build({ parent: governed, childPolicy: { ...policyFor(governed), redaction_policy_ref } });
    assert.deepEqual(versioned.package.policies.policy_refs.at(-1), redaction_policy_ref);
  });

  test('is valid, frozen, and its manifest and fingerprint are computed [S3-41]', () => {
    const { package: whole, fingerprint, manifest } = build({ toolPolicy: { type: 'inherit_allowlist' } });
    validatePackage(whole);
    assert.equal(fingerprint, fingerprintPackage(whole));
    assert.deepEqual(whole.fingerprint_manifest, fingerprintManifest(whole.capabilities));
    assert.deepEqual(parent.fingerprint_manifest.reserved_features, ['agent_as_tool', 'mcp_resource']);
    assert.deepEqual(whole.fingerprint_manifest.reserved_features, ['mcp_resource']);
    assert.throws(() => Object.assign(whole.agent, { agent_id: 'x' }), TypeError);
    assert.throws(() => (manifest.retained_capability_ids as string[]).push('x'), TypeError);
  });

  test('takes nothing from its parent but copies [S3-42]', () => {
    const mutable = structuredClone(parent) as RuntimePackage;
    const before = structuredClone(mutable);
    const result = build({ parent: mutable });
    assert.deepEqual(mutable, before);
    const { fingerprint } = result;
    Object.assign(mutable.agent.default_behavior_refs[0]!, { id: 'policy.changed' });
    for (const capability of mutable.capabilities) Object.assign(capability, { version: 'changed' });
    assert.equal(fingerprintPackage(result.package), fingerprint);
  });
});

describe('the manifest of a child', () => {
  test('says who was cut from what, and how [S3-9 S3-36 S3-37]', () => {
    assert.deepEqual(build({ handoff: selected }).manifest, {
      parent_package_fingerprint: fingerprintPackage(parent),
      child_agent_id: 'agent.child',
      selected_provider_route_id: 'route.parent',
      handoff_policy_variant: 'selected_refs',
      tool_policy: { type: 'read_only' },
      recursive_subagent_strip: true,
      stripped_capability_ids: [
        'agent.helper',
        'tool.curl',
        'tool.file_write',
        'tool.shell',
        'tool.subagent_monitor',
        'tool.unannotated',
      ],
      retained_capability_ids: ['mcp.resource', 'tool.file_read'],
      lifecycle_policy_ref: { kind: 'runtime_package', id: 'policy.child.parent_owned' },
      redaction_policy_ref: { kind: 'redaction', id: 'policy.redaction.subagent.default' },
    });
  });

  test('is the last sidecar of the package, by its hash [S3-39]', () => {
    const { package: child, manifest } = build();
    assert.deepEqual(child.sidecars, [...parent.sidecars, manifestSidecar(manifest)]);
    assert.equal(child.sidecars.at(-1)?.content_hash, manifestHash(manifest));
  });

  test('takes the place of the manifest of the parent in a grandchild, and refs to it still lead there [S3-39]', () => {
    const child = build();
    const { refs, policy_refs, content_hash, ...ref } = manifestSidecar(child.manifest);
    const referring = createPackage({
      ...child.package,
      capabilities: child.package.capabilities.map((capability) => ({ ...capability, sidecar_refs: [ref] })),
    });
    const input = { parent: referring, routes: child.routes, childPolicy: policyFor(referring) };
    const grandchild = build({ ...input, childAgentId: 'agent.grandchild' });
    assert.deepEqual(grandchild.package.sidecars, [manifestSidecar(grandchild.manifest)]);
    assert.notEqual(grandchild.package.sidecars[0]?.content_hash, content_hash);
    assert.deepEqual(grandchild.package.capabilities, referring.capabilities);

    const pinned = createPackage({
      ...referring,
      capabilities: referring.capabilities.map((one) => ({ ...one, sidecar_refs: [{ ...ref, content_hash }] })),
    });
    assert.throws(() => build({ ...input, parent: pinned, childPolicy: policyFor(pinned) }), {
      message: 'Sidecar ref leads nowhere: capabilities[0].sidecar_refs[0]',
    });
  });
});

describe('the fingerprint of a child', () => {
  test('differs from that of its parent and moves with policy, handoff, route, model, lifecycle and name [S3-43]', () => {
    const cheap = (model_id: string) => ({ type: 'use_allowed_override', route_id: 'route.cheap', model_id }) as const;
    const bounds: PolicyRef = { kind: 'runtime_package', id: 'policy.child.other' };
    const fingerprints = [
      fingerprintPackage(parent),
      ...[
        {},
        { toolPolicy: { type: 'no_tools' } },
        { toolPolicy: { type: 'custom_allowlist', capability_ids: [] } },
        { toolPolicy: { type: 'custom_allowlist', capability_ids: ['tool.file_read'] } },
        { handoff: selected },
        { handoff: { type: 'summary_only', summary_ref: { id: 'c' }, max_tokens: 1, policy_ref: context } },
        { routePolicy: cheap('model.a') },
        { routePolicy: cheap('model.b') },
        { childPolicy: { ...childPolicy, child_lifecycle_bounds: bounds } },
        { childPolicy: { ...childPolicy, redaction_policy_ref: { kind: 'redaction', id: 'policy.other' } } },
        { childAgentId: 'agent.other' },
      ].map((changes) => build(changes as Partial<ChildPackageInput>).fingerprint),
    ];
    assert.equal(new Set(fingerprints).size, fingerprints.length);
    assert.equal(build().fingerprint, fingerprints[1]);
  });
});

describe('the routes of a child', () => {
  test('lead to what it kept and make its snapshot [S3-35 S3-45]', () => {
    const child = build({ toolPolicy: { type: 'custom_allowlist', capability_ids: ['tool.shell', 'tool.curl'] } });
    const snapshot = buildSnapshot(child.package, child.routes);
    assert.deepEqual(
      snapshot.routes.map((route) => route.canonical_tool_name),
      ['curl', 'shell'],
    );
    assert.equal(snapshot.runtime_package_fingerprint, child.fingerprint);
    assert.throws(() => buildSnapshot(child.package, compiled.routes), { code: 'E_VALIDATION_FAIL' });
  });
});

describe('buildChildPackage', () => {
  test('loads nothing that could reach files, the network, a journal or a clock [S3-44]', () => {
    const seen = new Set<string>();
    const foreign = new Set<string>();
    const visit = (file: URL): void => {
      if (seen.has(file.href)) return;
      seen.add(file.href);
      const text = readFileSync(file, 'utf8');
      assert.doesNotMatch(text, /\bDate\b|Math\.random|randomUUID|performance\.|process\.|\bawait\b/, file.href);
      for (const [, specifier = ''] of text.matchAll(/^(?:import|export) (?!type\b)[^;]*? from '([^']+)';$/gms)) {
        if (specifier.startsWith('.')) visit(new URL(specifier, file));
        else foreign.add(specifier);
      }
    };
    visit(new URL('./build-child-package.ts', import.meta.url));
    const layers = new Set([...seen].map((href) => href.split('/').slice(-2).join('/')));
    assert.deepEqual(
      [...layers].filter((name) => !name.startsWith('package/') && !name.startsWith('contracts/')),
      ['platform/digest.ts'],
    );
    assert.deepEqual([...foreign].sort(), ['@tool-runtime/protocol', 'canonicalize', 'node:crypto', 'zod']);
    assert.ok(layers.has('package/package-parts.ts') && layers.has('package/validate-package.ts'));
  });

  test('answers at once and alike for like input [S3-44]', () => {
    assert.deepEqual(build(), build());
    assert.equal(JSON.stringify(build()), JSON.stringify(build()));
  });
});

describe('childPackageDefaults', () => {
  test('fills every field with the value that gives least [S3-16 S3-17]', () => {
    assert.deepEqual(childPackageDefaults('sha256:parent'), {
      source_parent_package: 'sha256:parent',
      inherit_provider_route: 'inherit_parent',
      allowed_route_overrides: [],
      strip_recursive_subagents: true,
      strip_disallowed_tools: true,
      child_lifecycle_bounds: { kind: 'runtime_package', id: 'policy.child.parent_owned' },
      redaction_policy_ref: { kind: 'redaction', id: 'policy.redaction.subagent.default' },
      parent_control_tool_ids: PARENT_CONTROL_TOOLS,
    });
  });

  test('knows the five tools by which agents steer agents [S3-18]', () => {
    assert.deepEqual(PARENT_CONTROL_TOOLS, [
      'tool.subagent_send_message',
      'tool.subagent_reply_to_clarification',
      'tool.subagent_ask_parent',
      'tool.subagent_read_parent_messages',
      'tool.subagent_monitor',
    ]);
  });

  test('cannot be loosened for later callers [S3-17]', () => {
    const policy = childPackageDefaults('sha256:parent');
    assert.throws(() => (policy.parent_control_tool_ids as string[]).pop(), TypeError);
    assert.throws(() => (PARENT_CONTROL_TOOLS as string[]).pop(), TypeError);
    assert.throws(() => Object.assign(policy, { strip_disallowed_tools: false }), TypeError);
    assert.throws(() => Object.assign(policy.redaction_policy_ref, { id: 'x' }), TypeError);
  });
});
