/**
 * Random TypeScript projects whose names mean something: few names, used again and again, so that scopes hide each other
 * and the same name goes through imports, lists, stars and namespaces. Files import only from files before them.
 */
import { posix } from 'node:path';
import { Choices } from './choices.ts';

type Kind = 'value' | 'type' | 'class' | 'module';

interface Visible {
  readonly name: string;
  readonly kind: Kind;
  /** Of a module: what it exports. */
  readonly exports?: ReadonlyMap<string, Kind>;
}

const NAMES = ['alpha', 'beta', 'gamma', 'Delta', 'Epsilon'] as const;
const PATHS = ['a.ts', 'lib/b.ts', 'lib/index.ts', 'c.tsx', 'user.ts'] as const;

export function generateTypeScript(tape: readonly number[]): Record<string, string> {
  const choices = new Choices(tape);
  const files: Record<string, string> = {};
  const exported = new Map<string, ReadonlyMap<string, Kind>>();
  for (const path of PATHS) {
    const file = new FileWriter(path, choices, exported);
    files[path] = file.write();
    exported.set(path, file.exports);
  }
  return files;
}

class FileWriter {
  readonly exports = new Map<string, Kind>();
  readonly #path: string;
  readonly #choices: Choices;
  readonly #earlier: ReadonlyMap<string, ReadonlyMap<string, Kind>>;
  readonly #visible: Visible[] = [];
  readonly #lines: string[] = [];
  #count = 0;

  constructor(path: string, choices: Choices, earlier: ReadonlyMap<string, ReadonlyMap<string, Kind>>) {
    this.#path = path;
    this.#choices = choices;
    this.#earlier = earlier;
  }

  write(): string {
    for (const [path, exports] of this.#earlier) this.#link(path, exports);
    for (const name of this.#choices.some(NAMES, 2)) if (this.#isFree(name)) this.#declare(name);
    for (let n = this.#choices.below(4); n >= 0; n--) this.#use();
    return `${this.#lines.join('\n')}\nexport {};\n`;
  }

  #link(path: string, exports: ReadonlyMap<string, Kind>): void {
    const source = this.#specifier(path);
    const names = [...exports].filter(([name]) => name !== 'default');
    switch (this.#choices.below(6)) {
      case 0:
        for (const [name, kind] of this.#choices.some(names, 2)) this.#importName(name, kind, source);
        break;
      case 1: {
        const local = this.#fresh('ns');
        this.#lines.push(`import * as ${local} from '${source}';`);
        this.#visible.push({ name: local, kind: 'module', exports });
        break;
      }
      case 2:
        if (names.some(([name]) => this.exports.has(name))) break;
        this.#lines.push(`export * from '${source}';`);
        for (const [name, kind] of names) this.exports.set(name, kind);
        break;
      case 3:
        for (const [name, kind] of this.#choices.some(names, 2)) this.#reexport(name, kind, source);
        break;
      case 4: {
        const kind = exports.get('default');
        const local = this.#choices.pick(NAMES);
        if (kind === undefined || !this.#isFree(local)) break;
        this.#lines.push(`import ${local} from '${source}';`);
        this.#visible.push({ name: local, kind });
        break;
      }
    }
  }

  #importName(name: string, kind: Kind, source: string): void {
    const local = this.#isFree(name) && !this.#choices.rarely(4) ? name : this.#fresh(name);
    const word = kind === 'type' && this.#choices.rarely(2) ? 'type ' : '';
    this.#lines.push(`import { ${word}${local === name ? name : `${name} as ${local}`} } from '${source}';`);
    this.#visible.push({ name: local, kind });
  }

  #reexport(name: string, kind: Kind, source: string): void {
    const offered = this.#choices.rarely(3) ? this.#fresh(name) : name;
    if (this.exports.has(offered)) return;
    this.#lines.push(`export { ${offered === name ? name : `${name} as ${offered}`} } from '${source}';`);
    this.exports.set(offered, kind);
  }

  #declare(name: string): void {
    const [text, kind] = this.#declaration(name);
    this.#visible.push({ name, kind });
    const way = this.#choices.below(6);
    const isOne = !text.includes('\n');
    if (way <= 1 && !this.exports.has(name)) {
      this.#lines.push(text.replace(/^/gm, 'export '));
      this.exports.set(name, kind);
    } else if (
      way === 2 &&
      isOne &&
      kind !== 'type' &&
      !this.exports.has('default') &&
      /^(?:function|class)/.test(text)
    ) {
      this.#lines.push(`export default ${text}`);
      this.exports.set('default', kind);
    } else if (way === 3 && !this.exports.has(name)) {
      this.#lines.push(text, `export { ${name} };`);
      this.exports.set(name, kind);
    } else if (way === 4) {
      const offered = this.#fresh(name);
      this.#lines.push(text, `export { ${name} as ${offered} };`);
      this.exports.set(offered, kind);
    } else this.#lines.push(text);
  }

  #declaration(name: string): readonly [string, Kind] {
    return this.#choices.pick<readonly [string, Kind]>([
      [`const ${name} = 1;`, 'value'],
      [`function ${name}(a?: unknown) { return a ?? ${name}; }`, 'value'],
      [`class ${name} { self(): ${name} { return new ${name}(); } ${name} = 1; }`, 'class'],
      [`interface ${name} { next?: ${name}; ${name}?: 1 }`, 'type'],
      [`type ${name}<T = 1> = T | ${name}[];`, 'type'],
      [`enum ${name} { one, two = one }`, 'class'],
      [`const ${name} = 1;\ntype ${name} = 2;`, 'class'],
      [`const { ${name} } = { ${name}: 1 };`, 'value'],
      [`let [${name}] = [1];`, 'value'],
    ]);
  }

  /** A function whose body uses, hides and passes on what is visible. */
  #use(): void {
    const body: string[] = [];
    for (let n = this.#choices.below(5); n >= 0; n--) {
      const found = this.#visible.length === 0 ? undefined : this.#choices.pick(this.#visible);
      if (found !== undefined) body.push(`  ${this.#statement(found)}`);
    }
    const parameter = this.#choices.pick(NAMES);
    const hides = this.#choices.rarely(3) ? `${parameter}: unknown` : '';
    if (this.#choices.rarely(6) && this.#visible[0] !== undefined)
      this.#lines.push(`/** See {@link ${this.#visible[0].name}}. */`);
    this.#lines.push(`export async function ${this.#fresh('use')}(${hides}) {`, ...body, '}');
  }

  #statement({ name, kind, exports }: Visible): string {
    if (kind === 'module') return this.#moduleStatement(name, exports ?? new Map());
    const local = this.#fresh('v');
    const values = [
      `${name};`,
      `const ${local} = { ${name} };`,
      `const ${local} = { ${name}: 1, other: ${name}, ['x']: ${name} };`,
      `const { q: ${local} = ${name} } = { q: 1 };`,
      `{ const ${name} = 1; ${name}; }`,
      `((${name}: number) => ${name})(1);`,
      `for (const ${name} of []) { ${name}; }`,
      `try { ${name}; } catch (${name}) { ${name}; }`,
      `function ${local}() { ${name}; var ${name} = 1; return ${name}; }`,
      `let ${local}: typeof ${name};`,
      `({ m() { return ${name}; }, ${name}() {} });`,
      `const ${local} = function ${name}() { return ${name}; };`,
      `switch (1 as number) { case 1: let ${name} = 1; ${name}; }`,
      `(${name} as any).${name};`,
    ];
    const types = [
      `let ${local}: ${name};`,
      `function ${local}<${name}>(a: ${name}): ${name} { return a; }`,
      `type ${local} = Array<${name}>;`,
      `type ${local}<T> = T extends (a: infer ${name}) => void ? ${name} : never;`,
      `type ${local} = { [${name} in 'k']: ${name} };`,
      `(null as unknown as ${name});`,
      `{ type ${name} = 1; let w: ${name}; }`,
    ];
    if (kind === 'value') return this.#choices.pick(values);
    return this.#choices.pick(kind === 'type' ? types : [...values, ...types]);
  }

  #moduleStatement(name: string, exports: ReadonlyMap<string, Kind>): string {
    const offered = [...exports].filter(([one, kind]) => one !== 'default' && kind !== 'module');
    if (offered.length === 0) return `${name};`;
    const [member, kind] = this.#choices.pick(offered);
    const local = this.#fresh('v');
    if (kind === 'type') return `let ${local}: ${name}.${member};`;
    return this.#choices.pick([
      `${name}.${member};`,
      `${name}['${member}'];`,
      `let ${local}: typeof ${name}.${member};`,
      `{ const { ${member} } = ${name}; ${member}; }`,
      `const { ${member}: ${local} } = ${name};`,
      `{ const copy = ${name}; copy.${member}; }`,
    ]);
  }

  #isFree(name: string): boolean {
    return !this.#visible.some((one) => one.name === name);
  }

  #fresh(stem: string): string {
    return `${stem}${this.#path.replace(/\W/g, '')}${this.#count++}`;
  }

  #specifier(path: string): string {
    const relative = posix.relative(posix.dirname(this.#path), path);
    return relative.startsWith('.') ? relative : `./${relative}`;
  }
}
