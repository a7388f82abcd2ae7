/** `runtime.policy`: what a registry answers to calls, before any is made. Its parts are loaded when they are asked for. */
import type {
  PolicyCheck,
  PolicyDiff,
  PolicyExplanation,
  PolicySimulation,
  PolicySuggestion,
} from '@tool-runtime/protocol';
import type { Registry, RegistryText } from '../contracts/registry.ts';
import type { RehearsalGround } from './explain-call.ts';

export interface ExplainOptions {
  readonly tool: string;
  readonly args: unknown;
  /** Judge under this registry instead of the one in force. */
  readonly registry?: RegistryText;
}

export interface SimulateOptions {
  readonly registry: RegistryText;
  /** Only calls made at or after this time, in milliseconds of the epoch. */
  readonly since?: number;
}

/**
 * Nothing here runs a tool, changes a file or writes to the journal. External tools and MCP servers are those of the
 * registry in force: another registry does not start its own.
 */
export interface PolicyRehearsal {
  /** What every gate says to a call of a new session, and the smallest change that would turn the answer. */
  explain(options: ExplainOptions): Promise<PolicyExplanation>;
  /** Whether the examples of the registry hold: those of the one in force, or of another. */
  check(options?: { readonly registry?: RegistryText }): Promise<PolicyCheck>;
  /** Every recorded call whose arguments were kept, judged again under another registry. */
  simulate(options: SimulateOptions): Promise<PolicySimulation>;
  /** The narrowest registry that would have allowed what was recorded and approved. */
  suggest(options?: { readonly since?: number }): Promise<PolicySuggestion>;
  /** What two registries answer differently. */
  diff(a: RegistryText, b: RegistryText): Promise<PolicyDiff>;
}

export function createPolicyRehearsal(ground: RehearsalGround): PolicyRehearsal {
  const groundOf = (text: RegistryText | undefined) => (text === undefined ? ground : groundUnder(text, ground));
  return {
    async explain({ tool, args, registry: text }) {
      const [{ explainCall }, { underRegistry }] = await Promise.all([
        import('./explain-call.ts'),
        import('./rehearsed-call.ts'),
      ]);
      const asked = await groundOf(text);
      return underRegistry(asked.registry, asked.runtime, (parts) => explainCall({ tool, args }, parts, asked));
    },
    async check({ registry: text } = {}) {
      const { checkExamples } = await import('./check-examples.ts');
      const { registry, runtime } = await groundOf(text);
      return checkExamples(registry, runtime);
    },
    async simulate({ registry: text, since }) {
      const { simulate } = await import('./simulate.ts');
      const { registry, runtime } = await groundUnder(text, ground);
      return simulate(registry, runtime, { since });
    },
    async suggest({ since } = {}) {
      const { suggest } = await import('./suggest.ts');
      return suggest(ground, { since });
    },
    async diff(a, b) {
      const { diffEffects } = await import('./diff-effects.ts');
      const [one, other] = [await groundUnder(a, ground), await groundUnder(b, ground)];
      return diffEffects(one, other, ground.runtime);
    },
  };
}

interface OtherGround extends RehearsalGround {
  readonly source: RegistryText;
  readonly registry: Registry;
}

/** The ground under another text, which counts as the operator's. Throws E_VALIDATION_FAIL for a bad one. */
async function groundUnder(source: RegistryText, ground: RehearsalGround): Promise<OtherGround> {
  const { loadRegistry } = await import('../registry/load-registry.ts');
  const registry = loadRegistry(source.text, { ...ground.known, file: source.file });
  return { ...ground, source, isTrusted: true, registry };
}
