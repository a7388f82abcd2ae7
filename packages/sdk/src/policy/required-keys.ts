/** Keys a call must carry, whatever the schema says; null counts as missing. */
import { type JsonValue, ToolError } from '@tool-runtime/protocol';

type Args = Readonly<Record<string, JsonValue>>;

export function missingKeys(args: Args, required: readonly string[]): readonly string[] {
  return required.filter((key) => !Object.hasOwn(args, key) || args[key] === null || args[key] === undefined);
}

/** Throws E_VALIDATION_FAIL once, with every missing key. */
export function requireKeys(args: Args, required: readonly string[], tool: string): void {
  if (required.length === 0) return;
  const missing = missingKeys(args, required);
  if (missing.length === 0) return;
  throw new ToolError('E_VALIDATION_FAIL', `Required arguments are missing for ${tool}: ${missing.join(', ')}`, {
    details: { gate: 'arguments', reason: 'missing_keys', missing, next: `give ${missing.join(', ')}` },
    ...(missing[0] === undefined ? {} : { path: missing[0] }),
  });
}
