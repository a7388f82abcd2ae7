/** A profile's policies with their expressions compiled, once per language. */
import type { NodeType } from '../contracts/facts.ts';
import { compileGlobs } from '../profile/compile-glob.ts';
import type { LanguageProfile } from '../profile/profile.ts';

export interface Policies {
  readonly exported: {
    readonly by: LanguageProfile['exported']['by'];
    readonly match: RegExp;
    readonly hidden: RegExp;
    readonly hiddenOutside: RegExp;
    readonly hiddenName: RegExp;
    readonly attr: RegExp;
    readonly inherit: ReadonlySet<NodeType>;
    readonly initialSection: Readonly<Partial<Record<NodeType, string>>>;
  };
  readonly doc: {
    readonly by: LanguageProfile['doc']['by'];
    readonly match: RegExp;
    readonly exclude: RegExp;
  };
  readonly test: { readonly attr: RegExp; readonly name: RegExp; readonly paths: RegExp };
  readonly constants: RegExp;
  readonly notLibrary: RegExp;
  readonly imports: LanguageProfile['imports'];
}

const NEVER = /(?!)/u;

export function compilePolicies(profile: LanguageProfile): Policies {
  const { exported, doc, test } = profile;
  return {
    exported: {
      by: exported.by,
      match: compile(exported.match),
      hidden: compile(exported.hidden),
      hiddenOutside: compile(exported.hidden_outside),
      hiddenName: compile(exported.hidden_name),
      attr: compile(exported.attr),
      inherit: new Set(exported.inherit),
      initialSection: exported.initial_section,
    },
    doc: { by: doc.by, match: compile(doc.match), exclude: compile(doc.exclude) },
    test: { attr: compile(test.attr), name: compile(test.name), paths: compileGlobs(test.paths) },
    constants: compile(profile.constants),
    notLibrary: compileGlobs(profile.library.not),
    imports: profile.imports,
  };
}

function compile(source: string | undefined): RegExp {
  return source === undefined ? NEVER : new RegExp(source, 'u');
}
