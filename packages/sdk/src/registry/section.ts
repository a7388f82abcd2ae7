/**
 * One section of the registry: its keys, what they compile to, and how a session narrows the host's.
 *
 * A section is one file in `sections/` and one line in `sections/catalog.ts`. Document, build and narrowing are derived
 * from the catalog. A section that compiles to a new field of `Registry` needs that field in contracts/registry.ts; the
 * compiler says so in the section's file.
 */
import type { z } from 'zod';
import { type SideEffectLevel, sideEffectRank } from '../contracts/annotations.ts';
import type { PolicyExample, Registry } from '../contracts/registry.ts';
import type { RuleFacts } from '../contracts/rule.ts';
import type { Narrowing } from './narrowing.ts';

/** The fields of a registry that sections compile to; the others describe the registry as a whole. */
export type SectionFields = Omit<Registry, 'version' | 'fingerprint' | 'warnings' | 'spot' | 'examples'>;

export interface BuildContext {
  readonly rules: ReadonlyMap<string, RuleFacts>;
  /** The lowest level under which all sections of the file make sense. */
  readonly neededLevel: SideEffectLevel;
}

/** The name of the missing property is what the compiler reports. */
type Known<Built> = [Exclude<keyof Built, keyof SectionFields>] extends [never]
  ? unknown
  : { readonly 'Add the field to Registry in contracts/registry.ts': Exclude<keyof Built, keyof SectionFields> };

type Written<Keys extends z.ZodRawShape> = z.output<z.ZodObject<Keys>>;

export interface Section<Keys extends z.ZodRawShape = z.ZodRawShape, Built extends object = Partial<SectionFields>> {
  /** Key → schema, with the default (or that the key may be left out) and a description. */
  readonly keys: Keys;
  /** Cannot fail on what the schema let through. */
  build(written: Written<Keys>, context: BuildContext): Built;
  /** Never wider than the host's. */
  narrow(narrowing: Narrowing): Built;
  /** Lists whose entries can also be found by name: path → names, in the order of the list. */
  readonly lists?: Readonly<Record<string, (written: Written<Keys>) => readonly string[]>>;
  /** Where names of tools are written: `*` is every entry of a list or map, `~` every key of a map. */
  readonly toolNames?: readonly string[];
  /** Calls that what is written must let through or refuse; see `tool-runtime policy check`. */
  examples?(written: Written<Keys>): readonly PolicyExample[];
  /** The side-effect level that what is written needs, where no ceiling is written. */
  needs?(written: Written<Keys>): SideEffectLevel | undefined;
  /** What the keys mean, where that differs from what is written. Equal meanings have equal fingerprints. */
  meaning?(written: Written<Keys>, context: BuildContext): Readonly<Record<string, unknown>>;
}

export function defineSection<Keys extends z.ZodRawShape, Built extends object>(
  section: Section<Keys, Built> & Known<Built>,
): Section<Keys, Built> {
  return section;
}

/** Undefined for none. */
export function highestLevel(levels: readonly SideEffectLevel[]): SideEffectLevel | undefined {
  return levels.toSorted((left, right) => sideEffectRank(right) - sideEffectRank(left))[0];
}
