/** The rules a run describes, found by place or by name, in the driver or in one of its extensions. */
import { at, filledText, listOf, textOf, wholeNumber } from '../../loose-json.ts';

export class RuleBook {
  readonly #components: readonly (readonly unknown[])[];
  readonly #byId = new Map<string, unknown>();

  /** Component 0 is the driver, the extensions follow. */
  constructor(run: unknown) {
    const components = [at(run, 'tool', 'driver'), ...listOf(at(run, 'tool', 'extensions'))];
    this.#components = components.map((component) => listOf(at(component, 'rules')));
    for (const rule of this.#components.flat()) {
      const id = textOf(at(rule, 'id'));
      if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, rule);
    }
  }

  /** The name and what is written about it; a result may name a rule nobody describes. */
  ruleOf(result: unknown): { readonly id: string; readonly rule: unknown } {
    const named = filledText(at(result, 'ruleId')) ?? filledText(at(result, 'rule', 'id'));
    const rule = this.#byPlace(result) ?? this.#byName(named);
    return { id: named ?? filledText(at(rule, 'id')) ?? 'unknown', rule };
  }

  #byPlace(result: unknown): unknown {
    const index = wholeNumber(at(result, 'ruleIndex')) ?? wholeNumber(at(result, 'rule', 'index'));
    if (index === undefined) return undefined;
    const extension = wholeNumber(at(result, 'rule', 'toolComponent', 'index'));
    return this.#components[extension === undefined ? 0 : extension + 1]?.[index];
  }

  /** A result may refine a rule's name by further parts behind a slash. */
  #byName(id: string | undefined): unknown {
    for (let name = id ?? ''; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('/')))) {
      const rule = this.#byId.get(name);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }
}
