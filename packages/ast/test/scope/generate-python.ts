/**
 * Random Python packages whose names mean something: few names in modules, functions, classes and comprehensions, passed on
 * by relative and absolute imports, packages and stars. Modules import only from modules before them.
 */
import { Choices } from './choices.ts';

interface Visible {
  readonly name: string;
  /** Declared here, not imported: Pyright loses its way where an imported name is assigned again. */
  readonly isOwn?: boolean;
  /** Dotted path of a module whose names are reached through it. */
  readonly module?: string;
}

const NAMES = ['alpha', 'beta', 'gamma', 'Delta'] as const;

/** Modules of the package `root`, in the order in which they import. */
function modulesOf(root: string): readonly { readonly path: string; readonly name: string; readonly folder: string }[] {
  return [
    { path: `${root}/a.py`, name: `${root}.a`, folder: root },
    { path: `${root}/sub/b.py`, name: `${root}.sub.b`, folder: `${root}.sub` },
    { path: `${root}/sub/__init__.py`, name: `${root}.sub`, folder: `${root}.sub` },
    { path: `${root}/__init__.py`, name: root, folder: root },
    { path: `${root}_user.py`, name: `${root}_user`, folder: '' },
  ];
}

export function generatePython(root: string, tape: readonly number[]): Record<string, string> {
  const choices = new Choices(tape);
  const files: Record<string, string> = {};
  const known = new Map<string, readonly string[]>();
  for (const { path, name, folder } of modulesOf(root)) {
    const writer = new ModuleWriter(choices, known, { folder, mark: path.replace(/\W/g, '_') });
    files[path] = writer.write();
    known.set(name, writer.names);
  }
  return files;
}

class ModuleWriter {
  readonly #choices: Choices;
  readonly #known: ReadonlyMap<string, readonly string[]>;
  readonly #folder: string;
  readonly #mark: string;
  readonly #visible: Visible[] = [];
  readonly #lines: string[] = [];
  #count = 0;

  constructor(
    choices: Choices,
    known: ReadonlyMap<string, readonly string[]>,
    place: { folder: string; mark: string },
  ) {
    this.#choices = choices;
    this.#known = known;
    this.#folder = place.folder;
    this.#mark = place.mark;
  }

  /** What other modules can import from it. */
  get names(): readonly string[] {
    return this.#visible.filter(({ module }) => module === undefined).map(({ name }) => name);
  }

  write(): string {
    for (const [module, names] of this.#known) this.#import(module, names);
    for (const name of this.#choices.some(NAMES, 2)) if (this.#isFree(name)) this.#declare(name);
    for (let n = this.#choices.below(4); n >= 0; n--) this.#use();
    if (this.#choices.rarely(4)) this.#lines.push(`__all__ = [${this.names.map((name) => `'${name}'`).join(', ')}]`);
    return `${this.#lines.join('\n')}\n`;
  }

  #import(module: string, names: readonly string[]): void {
    const [root = ''] = module.split('.');
    switch (this.#choices.below(6)) {
      case 0:
        for (const name of this.#choices.some(names, 2)) {
          const local = this.#isFree(name) && !this.#choices.rarely(4) ? name : this.#fresh(name);
          this.#lines.push(`from ${this.#source(module)} import ${name}${local === name ? '' : ` as ${local}`}`);
          this.#visible.push({ name: local });
        }
        break;
      case 1: {
        const local = this.#fresh('mod');
        this.#lines.push(`import ${module} as ${local}`);
        this.#visible.push({ name: local, module });
        break;
      }
      case 2:
        // A package is only whole once it is imported from outside.
        if (this.#folder !== '') break;
        this.#lines.push(`import ${module}`);
        if (!this.#visible.some((one) => one.name === root)) this.#visible.push({ name: root, module: root });
        this.#lines.push(...this.#choices.some(names, 2).map((name) => `${module}.${name}`));
        break;
      case 3: {
        const last = module.split('.').at(-1) ?? '';
        if (!module.includes('.') || !this.#isFree(last)) break;
        this.#lines.push(`from ${this.#source(module.slice(0, -last.length - 1))} import ${last}`);
        this.#visible.push({ name: last, module });
        break;
      }
      case 4: {
        const open = names.filter((name) => !name.startsWith('_'));
        if (open.some((name) => !this.#isFree(name))) break;
        this.#lines.push(`from ${this.#source(module)} import *`);
        this.#visible.push(...open.map((name) => ({ name })));
        break;
      }
    }
  }

  #declare(name: string): void {
    this.#lines.push(
      this.#choices.pick([
        `${name} = 1`,
        `def ${name}(a=None, *rest): return a or ${name}`,
        `class ${name}:\n    def again(self) -> '${name}': return ${name}()`,
        `for ${name} in (1, 2): print(${name})`,
        `${name}, *${this.#fresh('others')} = 1, 2`,
        `if (${name} := 1): pass`,
        `with open('f') as ${name}: ${name}.read()`,
      ]),
    );
    this.#visible.push({ name, isOwn: true });
  }

  #use(): void {
    const parameter = this.#choices.pick(NAMES);
    const hides = this.#choices.rarely(3) ? parameter : '';
    const body: string[] = [];
    for (let n = this.#choices.below(5); n >= 0; n--) {
      const found = this.#visible.length === 0 ? undefined : this.#choices.pick(this.#visible);
      if (found !== undefined) body.push(this.#statement(found, hides));
    }
    this.#lines.push(
      `def ${this.#fresh('use')}(${hides}):`,
      ...body.map((line) => line.replace(/^/gm, '    ')),
      '    pass',
    );
  }

  #statement({ name, module, isOwn }: Visible, hidden: string): string {
    if (module !== undefined) return this.#member(name, module);
    const local = this.#fresh('v');
    const plain = [
      `print(${name}, f'{${name}!r:>{${name}}}', '${name}')`,
      `${local} = [${name} for ${name} in [${name}]]`,
      `${local} = {k: ${name} for k in [${name}] if ${name}}`,
      `${local} = lambda ${name}=${name}: ${name}`,
      `${local} = (lambda: ${name})()`,
      `def ${local}(${name}): return ${name}\n${local}(${name}=1)`,
      `class ${local}:\n    ${name} = ${name}\n    b = ${name}\n    def m(self): return ${name}, self.${name}`,
      `dict(${name}=${name})`,
      `def ${local}():\n    ${name} = 2\n    def inner():\n        nonlocal ${name}\n        ${name} += 1\n    return ${name}`,
    ];
    // A parameter is no type and no global.
    if (hidden === name) return this.#choices.pick(plain);
    plain.push(`def ${local}(x: ${name} = ${name}) -> '${name}': return x`);
    if (isOwn === true) plain.push(`def ${local}():\n    global ${name}\n    ${name} = 2\n    return ${name}`);
    return this.#choices.pick(plain);
  }

  /** Only what is sure to be there: the module's own names. */
  #member(name: string, module: string): string {
    const offered = this.#known.get(module) ?? [];
    return offered.length === 0 ? `print(${name})` : `print(${name}.${this.#choices.pick(offered)})`;
  }

  #isFree(name: string): boolean {
    return !this.#visible.some((one) => one.name === name);
  }

  #fresh(stem: string): string {
    return `${stem}_${this.#mark}_${this.#count++}`;
  }

  /** Relative where the module lies in the same folder, every other time. */
  #source(module: string): string {
    const isNear = this.#folder !== '' && module.startsWith(`${this.#folder}.`);
    return isNear && this.#choices.rarely(2) ? module.slice(this.#folder.length) : module;
  }
}
