import { after, describe, test } from 'node:test';
import { createEngine } from '../../src/symbols/engine.ts';
import { checkRename, type RenameCase } from './marked-project.ts';

const engine = createEngine();
after(() => engine.delete());

/** A substitution in a template of the sources below. */
const inTemplate = (code: string): string => ['$', '{', code, '}'].join('');

const CASES: readonly RenameCase[] = [
  {
    title: 'an exported constant, its imports and their uses',
    files: {
      'a.ts': 'export const «*x» = 1;\nconsole.log(«x»);\n',
      'b.ts': "import { «x» } from './a.ts';\nconst twice = «x» + «x»;\n",
      'other.ts': 'const x = 2;\nx;\n',
    },
  },
  {
    title: 'an import under another name, whose uses stay',
    files: { 'a.ts': 'export const «*x» = 1;\n', 'b.ts': "import { «x» as y } from './a';\ny;\n" },
  },
  {
    title: 'an import under the same name, both',
    files: { 'a.ts': 'export const «*x» = 1;\n', 'b.ts': "import { «x» as «x» } from './a';\n«x»;\n" },
  },
  {
    title: 'named re-exports, which keep offering the old name',
    files: {
      'a.ts': 'export const «*x» = 1;\n',
      'list.ts': "export { «x→renamed as x» } from './a.ts';\n",
      'alias.ts': "export { «x» as z } from './a.ts';\n",
      'same.ts': "export { «x» as x } from './a.ts';\n",
      'through.ts': "import { «x» } from './a.ts';\nexport { «x→renamed as x» };\n",
      'user.ts': "import { x } from './list.ts';\nx;\n",
      'user2.ts': "import { x } from './through.ts';\nx;\n",
    },
  },
  {
    title: 'a local export list, which keeps offering the old name',
    files: {
      'a.ts': 'const «*x» = 1;\nexport { «x→renamed as x» };\nexport { «x» as y };\n',
      'b.ts': "import { x } from './a.ts';\nx;\n",
    },
  },
  {
    title: 'a name in the export list of a namespace, by which the file itself exports nothing',
    files: {
      'a.ts': 'export interface «*x» {}\nexport declare namespace n {\n  export { type «x» as x };\n}\n',
      'plain.ts': "import { «x» } from './a.ts';\nexport declare namespace m {\n  export { «x→renamed as x» };\n}\n",
      'b.ts': "import { «x» } from './a.ts';\nlet y: «x»;\n",
    },
  },
  {
    title: 'star exports, through several files and a cycle',
    files: {
      'a.ts': "export const «*x» = 1;\nexport * from './c.ts';\n",
      'b.ts': "export * from './a.ts';\n",
      'c.ts': "export * from './b.ts';\n",
      'd.ts': "import { «x» } from './c.ts';\n«x»;\n",
    },
  },
  {
    title: 'members of namespace imports and of exported namespaces',
    files: {
      'a.ts': 'export const «*x» = 1;\nexport type T = 1;\n',
      'ns.ts': "export * as inner from './a.ts';\n",
      'b.ts':
        "import * as ns from './a.ts';\nimport { inner } from './ns.ts';\nimport * as all from './ns.ts';\n" +
        "ns.«x»; ns['«x»']; inner.«x»; all.inner.«x»;\nlet v: typeof ns.«x»;\nconst same = ns;\nsame.«x»;\n" +
        'const { «x»: local } = ns;\nfunction f() { const { «x→renamed: x» } = ns; return x; }\n',
    },
  },
  {
    title: 'import() and require with a literal',
    files: {
      'a.ts': 'export const «*x» = 1;\nexport interface I {}\n',
      'b.ts':
        "const { «x→renamed: x» } = await import('./a.ts');\nx;\n(await import('./a.ts')).«x»;\n" +
        "import('./a.ts').then(({ «x→renamed: x» }) => x);\nimport('./a.ts').then((m) => m.«x»);\n" +
        "const m = await import('./a.ts');\nm.«x»;\nlet t: typeof import('./a.ts').«x»;\n",
      'c.cjs': "const { «x→renamed: x» } = require('./a.ts');\nx;\nrequire('./a.ts').«x»;\n",
    },
  },
  {
    title: 'types imported as an expression',
    files: {
      'a.ts': 'export interface «*Shape» {}\n',
      'b.ts': "let a: import('./a.ts').«Shape»;\nlet b: Array<import('./a.ts').«Shape»>;\n",
    },
    newName: 'Form',
  },
  {
    title: 'a default export with the same name where it is imported',
    files: {
      'a.ts': 'export default function «*x»() { return «x»; }\n',
      'b.ts': "import «x» from './a.ts';\n«x»();\n",
      'c.ts': "import other from './a.ts';\nother();\n",
      'd.ts': "import { default as x } from './a.ts';\nx();\n",
      'e.ts': "export { default as x } from './a.ts';\n",
    },
  },
  {
    title: 'an expression that is the default export',
    files: { 'a.ts': 'const «*x» = 1;\nexport default «x»;\n', 'b.ts': "import «x» from './a.ts';\n«x»;\n" },
  },
  {
    title: 'object shorthand and destructuring of a variable',
    files: {
      'a.ts':
        'function f(«*a»: number, o = { «a→a: renamed» }) {\n  const { b = «a» } = { b: «a» };\n  ({ «a→a: renamed» } = o);\n' +
        '  [«a»] = [1];\n  return { «a→a: renamed», c: «a», a: 1 };\n}\n',
    },
  },
  {
    title: 'a destructured variable, the property stays',
    files: {
      'a.ts': 'declare const o: any;\nexport const { «*x→x: renamed», y: { z = «x» }, ...rest } = o;\no.x;\n',
      'b.ts': "import { «x» } from './a.ts';\n«x»;\n",
    },
    residual: ['a.ts:3 member'],
  },
  {
    title: 'JSX elements, own and of a namespace',
    files: {
      'a.tsx':
        'export function «*Card»() { return null; }\nexport const e = <«Card»></«Card»>;\nexport const d = <div Card="Card" />;\n',
      'b.tsx': "import * as ns from './a.tsx';\nexport const e = <ns.«Card» />;\n",
    },
    newName: 'Panel',
    residual: ['a.tsx:3 string'],
  },
  {
    title: 'a name that is a type and a value',
    files: {
      'a.ts': 'export const «*Kind» = 1;\nexport type «Kind» = string;\nlet v: «Kind»;\n',
      'b.ts': "import { «Kind» } from './a.ts';\nlet a: «Kind» = «Kind»;\n",
    },
    newName: 'Sort',
  },
  {
    title: 'a type, not the value of the same name inside',
    files: {
      'a.ts': 'type «*T» = 1;\nfunction f(T: number) { let v: «T»; return T; }\nfunction g<T>(a: T): T { return a; }\n',
    },
    newName: 'U',
  },
  {
    title: 'a value, not the type of the same name inside',
    files: { 'a.ts': 'const «*x» = 1;\nfunction f() { type x = 2; let v: x; return «x»; }\n' },
  },
  {
    title: 'type parameters, mapped and inferred names',
    files: {
      'a.ts':
        'type A<«*T»> = { [K in keyof «T»]: «T»[K] };\ntype B<T> = T extends (a: infer U) => void ? U : never;\nclass C<T> { m<T>(a: T) {} }\n',
    },
    newName: 'V',
  },
  {
    title: 'an inferred type in a nested function type',
    files: { 'a.ts': 'type B<T> = T extends (a: infer «*U») => void ? «U» : never;\ntype U = 1;\n' },
    newName: 'V',
  },
  {
    title: 'overloads, enums, classes and namespaces',
    files: {
      'a.ts':
        'export function «*f»(a: string): void;\nexport function «f»(a: number): void;\nexport function «f»(a: unknown) { «f»(1); }\n' +
        'export namespace «f» { export const a = 1; }\n«f».a;\n',
    },
  },
  {
    title: 'an enum, its members keep to themselves',
    files: { 'a.ts': 'enum «*E» { A, B = A }\nconst A = 1;\nlet e: «E» = «E».A;\nlet b: «E».B;\n' },
    newName: 'F',
  },
  {
    title: 'a variable hidden in inner scopes',
    files: {
      'a.ts':
        'let «*x» = 1;\n{ let x = 2; x; }\nfor (const x of [1]) x;\nfor (let x = 0; x < 1; x++) {}\ntry {} catch (x) { x; }\n' +
        'const f = (x: number) => x;\nconst g = function x() { return x; };\nconst h = class x { static y = x; };\n«x»;\nexport {};\n',
    },
  },
  {
    title: 'a variable that is hoisted out of its block',
    files: {
      'a.js':
        'export {};\nfunction f() {\n  «x»;\n  if (1) { var «*x» = 1; }\n  for (var «x» of []) «x»;\n  { let x; x; }\n  return () => «x»;\n}\n',
    },
  },
  {
    title: 'switch cases share one scope, labels are no variables',
    files: { 'a.ts': 'export {};\nlet x;\nswitch (x) { case 1: let «*y» = 1; case 2: «y»; }\ny: for (;;) break y;\n' },
  },
  {
    title: 'a parameter, with what its comment and its predicate say',
    files: {
      'a.ts': '/** @param a thing */\nexport function f(«*a»: unknown): «a» is string { return typeof «a» === "a"; }\n',
    },
    residual: ['a.ts:1 comment', 'a.ts:2 string'],
  },
  {
    title: 'an import at its own place, which gets an alias',
    files: {
      'a.ts': 'export const x = 1;\n',
      'b.ts': "import { «*x→x as renamed» } from './a.ts';\n«x»;\nexport { «x→renamed as x» };\n",
    },
  },
  {
    title: 'an import from outside',
    files: { 'b.ts': "import { «*readFile→readFile as renamed» } from 'node:fs';\n«readFile»;\n" },
  },
  {
    title: 'a namespace import and an alias',
    files: {
      'a.ts': 'export const x = 1;\n',
      'b.ts': "import * as «*ns» from './a.ts';\n«ns».x;\nlet t: typeof «ns».x;\nlet u: «ns».T;\n",
    },
  },
  {
    title: 'a name merged with an import, which keeps its own',
    files: {
      'a.ts': 'export const «*x» = 1;\n',
      'b.ts': "import { «x→renamed as x» } from './a.ts';\nnamespace x { export const z = 1; }\nx;\n",
    },
  },
  {
    title: 'import equals and its members',
    files: {
      'a.ts': 'export const «*x» = 1;\n',
      'b.ts': "import a = require('./a');\na.«x»;\nimport y = a.«x»;\ny;\n",
    },
  },
  {
    title: 'what may be the name and nobody knows',
    files: {
      'a.ts': 'export const «*load» = 1; // load it\n',
      'b.ts':
        "import * as ns from './a.ts';\nlet copy = ns;\ncopy.load;\nother().load;\nconst text = 'load';\n`load " +
        inTemplate('ns.«load»') +
        ' loader`;\n({ load: 1 });\n',
      'c.vue': '<script>\nimport { load } from "./a.ts"\n</script>\n',
    },
    residual: ['a.ts:1 comment', 'b.ts:3 member', 'b.ts:4 member', 'b.ts:5 string', 'b.ts:6 string', 'c.vue:2 opaque'],
  },
  {
    title: 'declarations of a script, whose uses elsewhere are uncertain',
    files: { 'a.ts': 'const «*x» = 1;\n', 'b.ts': 'x;\nfunction f(x) { return x; }\n' },
    residual: ['b.ts:1 code'],
  },
  {
    title: 'an import through an alias that only a bundler knows',
    files: {
      'src/a.ts': 'export const «*x» = 1;\n',
      'src/b.ts': "import { x } from '@/a';\nimport { x as y } from 'react';\nx;\n",
    },
    residual: ['src/b.ts:1 code'],
  },
  {
    title: 'generated and vendored files, which are only reported',
    files: {
      'a.ts': 'export const «*x» = 1;\n',
      'g.ts': "// Code generated by hand. DO NOT EDIT.\nimport { x } from './a.ts';\nx;\n",
      'vendor/v.ts': "import { x } from '../a.ts';\n",
    },
    residual: ['g.ts:2 code', 'g.ts:3 code', 'vendor/v.ts:1 code'],
  },
  {
    title: 'offsets in bytes, after letters of several bytes, a byte order mark and CRLF',
    files: {
      'a.ts': "\ufeffconst é = '🦄';\r\nexport const «*größe» = 'ü'; /* 漢 */ «größe»;\r\n",
      'b.ts': "/* 漢字 */ import { «größe» } from './a.ts'; «größe»;\n",
    },
    newName: 'länge',
  },
  {
    title: 'decorators, computed names, templates and assertions',
    files: {
      'a.ts':
        'export {};\nconst «*k» = "a";\nclass C { [«k»] = 1; @«k» m() { return `' +
        inTemplate('«k»') +
        '`; } k = 2; }\n«k» as string; «k»!; <string>«k»; new C()[«k»]; new C().k;\n',
    },
  },
  {
    title: 'a class used as type, value and base',
    files: {
      'a.ts': 'export class «*Base»<T> { static of() { return new «Base»(); } }\n',
      'b.ts':
        "import type { «Base» } from './a.ts';\nimport { «Base» as B } from './a.ts';\nexport class D extends B<«Base»<1>> {}\n",
    },
    newName: 'Root',
  },
];

describe('rename in TypeScript and JavaScript edits [S0-54]', () => {
  for (const one of CASES) test(one.title, () => checkRename(engine, one));
});
