import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SIDE_EFFECT_LEVELS, sideEffectRank, TOOL_KINDS } from '../src/contracts/annotations.ts';
import { EFFECT_CLASSES } from '../src/contracts/classes.ts';
import type { PolicyRef } from '../src/contracts/refs.ts';
import {
  buildChildPackage,
  type ChildPackage,
  type ChildPackageInput,
  childPackageDefaults,
  PARENT_CONTROL_TOOLS,
} from '../src/package/build-child-package.ts';
import { CAPABILITY_KINDS, type CapabilitySpec } from '../src/package/capability.ts';
import type { ChildToolPolicy, DeclaredEffect } from '../src/package/child-tool-policy.ts';
import { compilePackage } from '../src/package/compile-package.ts';
import type { ContextHandoff } from '../src/package/context-handoff.ts';
import { fingerprintPackage } from '../src/package/fingerprint.ts';
import { buildSnapshot } from '../src/package/registry-snapshot.ts';
import { createPackage, type RuntimePackage } from '../src/package/runtime-package.ts';
import type { ToolRoute } from '../src/package/tool-router.ts';

interface Root {
  readonly package: RuntimePackage;
  readonly routes: readonly ToolRoute[];
  readonly annotations: ReadonlyMap<string, DeclaredEffect>;
}

const controls = PARENT_CONTROL_TOOLS.map((id) => id.slice('tool.'.length));
const toolFacts = fc.record({
  name: fc.constantFrom('a', 'b', 'B', 'c', 'd', 'e', 'é', '\u{1F600}', '\uFF5E', 'aa', ...controls),
  effect: fc.constantFrom('read' as const, ...EFFECT_CLASSES),
  annotation: fc.option(
    fc.record({
      kind: fc.constantFrom('read' as const, ...TOOL_KINDS),
      side_effect_level: fc.constantFrom('read_only' as const, ...SIDE_EFFECT_LEVELS),
    }),
  ),
  /** The effect of a second name for the same capability. */
  alias: fc.option(fc.constantFrom('read' as const, ...EFFECT_CLASSES)),
  isRouted: fc.constantFrom(true, true, true, false),
});
const inertKind = fc.constantFrom(...CAPABILITY_KINDS);

const roots: fc.Arbitrary<Root> = fc
  .tuple(
    fc.uniqueArray(toolFacts, { maxLength: 10, selector: ({ name }) => name }),
    fc.array(inertKind, { maxLength: 4 }),
  )
  .map(([facts, kinds]) => {
    const compiled = compilePackage({
      packageId: 'package.root',
      agentId: 'agent.root',
      registryFingerprint: 'sha256:cc',
      tools: facts.map(({ name, effect }) => ({ name, effect, risk: 'low', schemaDigest: `sha256:${name}` })),
    });
    const routes = facts.flatMap(({ alias, isRouted }, at) => {
      const route = compiled.routes[at] as ToolRoute;
      const other = { ...route, canonical_tool_name: `alias.${route.canonical_tool_name}` };
      return isRouted ? [route, ...(alias === null ? [] : [{ ...other, effect_class: alias }])] : [];
    });
    const annotations = facts.flatMap(({ name, annotation }) =>
      annotation === null ? [] : [[`tool.${name}`, annotation] as const],
    );
    const capabilities = [...compiled.package.capabilities, ...kinds.map(inert)];
    return {
      package: createPackage({ ...compiled.package, capabilities }),
      routes,
      annotations: new Map(annotations),
    };
  });

function inert(kind: CapabilitySpec['kind'], at: number): CapabilitySpec {
  const policy_ref: PolicyRef = { kind: 'permission', id: 'policy.inert' };
  return {
    capability_id: `inert.${at}`,
    kind,
    source: {
      kind: 'host_provided',
      source_ref: { kind: 'host', id: 'host', trust: 'host_provided', privacy: 'internal' },
    },
    namespace: 'test',
    version: 'v1',
    visibility: 'hidden',
    projection: { type: 'not_projected' },
    policy_ref,
    sidecar_refs: [],
    privacy: 'internal',
    readiness: { status: kind === 'tool' ? 'active' : 'reserved_inactive' },
  };
}

/** One step of a chain. `picks` choose from the ids of whatever the parent turns out to have. */
interface Step {
  readonly type: ChildToolPolicy['type'];
  readonly picks: readonly number[];
  readonly handoff: ContextHandoff;
  readonly cheapModel: string | null;
  readonly lifecycle: string;
  readonly isStripping: boolean;
}

const context: PolicyRef = { kind: 'context', id: 'policy.handoff' };
const steps: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom('inherit_allowlist', 'read_only', 'no_tools', 'custom_allowlist'),
  picks: fc.array(fc.nat(20), { maxLength: 8 }),
  handoff: fc.constantFrom<ContextHandoff>(
    { type: 'none' },
    { type: 'selected_refs', refs: [{ id: 'content.a' }], policy_ref: context },
    { type: 'full_history_with_policy', policy_ref: context, projection_audit_required: true },
  ),
  cheapModel: fc.constantFrom(null, 'model.a', 'model.b'),
  lifecycle: fc.constantFrom('policy.child.parent_owned', 'policy.child.other'),
  isStripping: fc.constantFrom(true, true, true, false),
});
const chains = fc.array(steps, { minLength: 1, maxLength: 5 });

const idsOf = (pkg: RuntimePackage): string[] => pkg.capabilities.map(({ capability_id }) => capability_id).sort();

function inputOf(parent: Root, step: Step, childAgentId = 'agent.child'): ChildPackageInput {
  const ids = idsOf(parent.package);
  const capability_ids = ids.length === 0 ? [] : step.picks.map((pick) => ids[pick % ids.length] as string);
  const { cheapModel } = step;
  return {
    parent: parent.package,
    routes: parent.routes,
    annotations: parent.annotations,
    childAgentId,
    routePolicy:
      cheapModel === null
        ? { type: 'inherit_parent' }
        : { type: 'use_allowed_override', route_id: 'route.cheap', model_id: cheapModel },
    handoff: step.handoff,
    toolPolicy: step.type === 'custom_allowlist' ? { type: step.type, capability_ids } : { type: step.type },
    childPolicy: {
      ...childPackageDefaults(fingerprintPackage(parent.package)),
      allowed_route_overrides: ['route.cheap'],
      strip_disallowed_tools: step.isStripping,
      child_lifecycle_bounds: { kind: 'runtime_package', id: step.lifecycle },
    },
  };
}

/** The root first, each of its descendants after its parent. */
function family(root: Root, chain: readonly Step[]): readonly (Root & Partial<ChildPackage>)[] {
  const members: (Root & Partial<ChildPackage>)[] = [root];
  for (const [at, step] of chain.entries()) {
    const parent = members[at] as Root;
    const child = buildChildPackage(inputOf(parent, step, `agent.${at}`));
    members.push({ ...child, annotations: root.annotations });
  }
  return members;
}

const pairs = <T>(items: readonly T[]): [T, T][] =>
  items.flatMap((ancestor, at) => items.slice(at + 1).map((descendant): [T, T] => [ancestor, descendant]));

describe('a chain of child packages', () => {
  test('only ever narrows: capabilities and names are those of every ancestor, as they were [S3-35 S3-39]', () => {
    fc.assert(
      fc.property(roots, chains, (root, chain) => {
        const members = family(root, chain).map((member) => ({
          ...member,
          ids: new Set(idsOf(member.package)),
          snapshot: buildSnapshot(member.package, member.routes),
        }));
        for (const [ancestor, descendant] of pairs(members)) {
          assert.ok(descendant.ids.isSubsetOf(ancestor.ids));
          for (const route of descendant.snapshot.routes) {
            assert.deepEqual(ancestor.snapshot.findByName(route.canonical_tool_name), route);
          }
          for (const capability of descendant.package.capabilities) {
            const { capability_id } = capability;
            assert.deepEqual(
              ancestor.package.capabilities.find((one) => one.capability_id === capability_id),
              capability,
            );
          }
        }
        for (const { package: pkg } of members.slice(1)) assert.equal(pkg.sidecars.length, 1);
      }),
    );
  });

  test('each manifest parts the ids of the parent in two sorted lists [S3-36]', () => {
    fc.assert(
      fc.property(roots, chains, (root, chain) => {
        const members = family(root, chain);
        for (const [at, { manifest, package: child }] of members.entries()) {
          if (manifest === undefined) continue;
          const { stripped_capability_ids: stripped, retained_capability_ids: retained } = manifest;
          const parent = (members[at - 1] as Root).package;
          assert.deepEqual([...stripped, ...retained].sort(), idsOf(parent));
          assert.deepEqual([...stripped].sort(), stripped);
          assert.deepEqual([...retained].sort(), retained);
          assert.deepEqual(idsOf(child), retained);
        }
      }),
    );
  });

  test('nothing that acts outlives a step that forbids it [S3-21 S3-22 S3-35]', () => {
    fc.assert(
      fc.property(roots, chains, (root, chain) => {
        for (const [at, member] of family(root, chain).slice(1).entries()) {
          const { type, isStripping } = chain[at] as Step;
          for (const { capability_id, kind, executor_ref } of member.package.capabilities) {
            assert.ok(kind !== 'agent_as_tool' && !PARENT_CONTROL_TOOLS.includes(capability_id));
            if (!isStripping || executor_ref === undefined) continue;
            assert.notEqual(type, 'no_tools');
            if (type === 'read_only') assertReads(root, capability_id);
          }
        }
      }),
    );
  });

  function assertReads({ routes, annotations }: Root, id: string): void {
    const own = routes.filter((route) => route.capability_id === id);
    const annotation = annotations.get(id);
    assert.ok(own.length > 0 && own.every((route) => route.effect_class === 'read'));
    assert.ok(annotation !== undefined && ['read', 'search', 'think', 'fetch'].includes(annotation.kind));
    assert.ok(sideEffectRank(annotation.side_effect_level) < sideEffectRank('workspace_write'));
  }

  test('leaves the root as it was [S3-42]', () => {
    fc.assert(
      fc.property(roots, chains, (root, chain) => {
        const before = JSON.stringify([root.package, root.routes]);
        family(root, chain);
        assert.equal(JSON.stringify([root.package, root.routes]), before);
      }),
    );
  });
});

describe('the fingerprint of a child package', () => {
  const build = (root: Root, step: Step) => buildChildPackage(inputOf(root, step));

  test('does not depend on the order of capabilities, routes and listed ids [S3-38 S3-43]', () => {
    fc.assert(
      fc.property(roots, steps, fc.infiniteStream(fc.double({ noNaN: true })), (root, step, order) => {
        const shuffled = <T>(items: readonly T[]): T[] =>
          items
            .map((item) => ({ item, key: order.next().value as number }))
            .sort((a, b) => a.key - b.key)
            .map(({ item }) => item);
        const input = inputOf(root, step);
        const { toolPolicy } = input;
        const listed = toolPolicy?.type === 'custom_allowlist' ? toolPolicy.capability_ids : [];
        const rearranged = buildChildPackage({
          ...input,
          parent: createPackage({ ...root.package, capabilities: shuffled(root.package.capabilities) }),
          routes: shuffled(root.routes),
          annotations: new Map(shuffled([...root.annotations])),
          ...(toolPolicy?.type === 'custom_allowlist'
            ? { toolPolicy: { ...toolPolicy, capability_ids: shuffled([...listed, ...listed]) } }
            : {}),
        });
        const child = buildChildPackage(input);
        assert.deepEqual(rearranged.manifest, child.manifest);
        assert.equal(rearranged.fingerprint, child.fingerprint);
      }),
    );
  });

  test('is equal for two steps exactly when they mean the same [S3-43]', () => {
    fc.assert(
      fc.property(roots, steps, steps, (root, first, second) => {
        const [a, b] = [build(root, first), build(root, second)];
        const isSame = JSON.stringify(meaning(a, first)) === JSON.stringify(meaning(b, second));
        assert.equal(a.fingerprint === b.fingerprint, isSame);
        assert.notEqual(a.fingerprint, fingerprintPackage(root.package));
      }),
      { numRuns: 300 },
    );
  });

  test('moves when one thing about the step does [S3-43]', () => {
    const other: { readonly [Key in 'type' | 'handoff' | 'cheapModel' | 'lifecycle']: Step[Key] } = {
      type: 'inherit_allowlist',
      handoff: { type: 'summary_only', summary_ref: { id: 'content.s' }, max_tokens: 5, policy_ref: context },
      cheapModel: 'model.c',
      lifecycle: 'policy.child.third',
    };
    const plain = steps.filter(({ type }) => type !== 'inherit_allowlist');
    fc.assert(
      fc.property(roots, plain, (root, step) => {
        const before = build(root, step).fingerprint;
        for (const [key, value] of Object.entries(other)) {
          assert.notEqual(build(root, { ...step, [key]: value }).fingerprint, before, key);
        }
      }),
    );
  });

  function meaning({ manifest }: ChildPackage, { type, handoff, cheapModel, lifecycle }: Step): unknown {
    const listed = manifest.tool_policy.type === 'custom_allowlist' ? manifest.tool_policy.capability_ids : [];
    const distinct = [...new Set(listed)];
    return [type, distinct, manifest.retained_capability_ids, handoff.type, cheapModel, lifecycle];
  }
});
