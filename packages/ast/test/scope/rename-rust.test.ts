import { after, describe, test } from 'node:test';
import { createEngine } from '../../src/symbols/engine.ts';
import { checkRename, type RenameCase } from './marked-project.ts';

const engine = createEngine();
after(() => engine.delete());

const CARGO = '[workspace]\n\n[package]\nname = "my-crate"\nversion = "0.1.0"\n';

const CASES: readonly RenameCase[] = [
  {
    title: 'a function through modules, use trees, globs, crates and macros',
    files: {
      'Cargo.toml': CARGO,
      'src/lib.rs':
        'pub mod a;\nmod b;\npub use a::«foo»;\npub use crate::a::inner::{Deep, self};\n' +
        'fn local() { «foo»(); a::«foo»(); crate::«foo»(); println!("{}", «foo»()); inner::x(); }\n' +
        '#[cfg(test)]\nmod tests { use super::*; #[test] fn t() { «foo»(); assert_eq!(«foo»(), crate::a::«foo»()); } }\n',
      'src/a.rs':
        'pub fn «*foo»() -> u32 { 1 }\npub mod inner;\npub struct Bar { pub foo: u32 }\n' +
        'impl Bar { pub fn foo(&self) -> u32 { self.foo + «foo»() } }\nmacro_rules! m { () => { $crate::a::«foo»(); foo() } }\n',
      'src/a/inner.rs':
        'use super::«foo»;\nuse super::«foo» as f2;\npub struct Deep;\npub fn x() { «foo»(); f2(); super::«foo»(); let foo = 1; foo; }\n',
      'src/b/mod.rs': 'use crate::a::*;\nfn y() { «foo»(); let s = Bar { foo: «foo»() }; s.foo(); Bar::foo(&s); }\n',
      'src/main.rs':
        'use my_crate::«foo»;\nuse my_crate::a::{self, «foo» as g};\nfn main() { «foo»(); my_crate::a::«foo»(); a::«foo»(); g(); }\n',
      'tests/it.rs': 'use my_crate::a::«foo»;\n#[test] fn t() { «foo»(); }\n',
    },
    residual: ['src/a.rs:5 opaque'],
  },
  {
    title: 'a variable up to the next of its name',
    files: {
      'src/lib.rs':
        'fn f(x: u32) -> u32 {\n  let «*y» = x;\n  println!("{«y»} {«y»:?} {0:«y»$}", «y»);\n  let y = «y» + 1;\n  if let Some(y) = g(y) { y } else { y };\n  y\n}\n',
    },
  },
  {
    title: 'a variable of if let, not what stands in else',
    files: {
      'src/lib.rs': 'fn f(y: u32) { if let Some(«*y») = g(y) { «y»; } else { y; } while let Some(y) = h() { y; } }\n',
    },
  },
  {
    title: 'a chain of let conditions',
    files: { 'src/lib.rs': 'fn f(y: u32) { if let Some(«*a») = g() && let Ok(b) = «a» { «a»; b; } }\n' },
  },
  {
    title: 'let else, match arms, closures and loops',
    files: {
      'src/lib.rs':
        'fn f(«*a»: u32, S { b, c: d }: S) -> u32 {\n  let cl = |a: u32| a + 1;\n  let e = |z| z + «a»;\n  S { b, c: «a» };\n' +
        '  match «a» { a @ 1..=2 => a, Some(a) if a > 1 => a, E::X(o) | E::Y { a: o } => o, other => «a» };\n' +
        '  for a in «a»..2 { a; }\n  let Some(a) = «a» else { return «a» };\n  a\n}\n',
    },
  },
  {
    title: 'field shorthand, with and without words before it',
    files: {
      'src/lib.rs':
        'fn f(s: S, «*x»: u32) { let t = S { «x→x: renamed», y: «x» }; let S { x, .. } = t; x; }\nfn g(s: S) { let S { ref mut x } = s; x; }\n',
    },
  },
  {
    title: 'a binding of a field with words before it',
    files: { 'src/lib.rs': 'fn g(s: S) { let S { «ref mut x→x: ref mut renamed» } = s; «*x»; }\n' },
  },
  {
    title: 'a function inside of a function, which sees no variables',
    files: { 'src/lib.rs': 'fn f() { let «*v» = 1; fn n(v: u32) -> u32 { v } «v»; }\nconst V: u32 = 1;\n' },
  },
  {
    title: 'items inside of functions, before and after',
    files: {
      'src/lib.rs': 'fn f() { «inner»(); fn «*inner»() { «inner»(); } fn other() { «inner»(); } }\nfn inner() {}\n',
    },
  },
  {
    title: 'a tuple struct as type, value and pattern',
    files: {
      'src/lib.rs':
        'pub struct «*P»<T>(T);\nimpl<T> «P»<T> { fn new(t: T) -> «P»<T> { «P»(t) } fn me() -> Self { Self::new() } }\n' +
        'fn f(p: «P»<u8>) -> crate::«P»<u8> { let «P»(x) = p; «P»::<u8>::new(x); vec![«P»(1)]; x }\n' +
        'mod q { use super::«P»; type X = «P»<u8>; fn f<P>(p: P) {} }\nenum E { P(u8) }\nfn g(e: E) { match e { E::P(_) => {} } }\n',
    },
    newName: 'Q2',
  },
  {
    title: 'a trait in bounds, objects and qualified paths',
    files: {
      'src/lib.rs':
        'pub trait «*Tr» { fn m(&self); }\nstruct S;\nimpl «Tr» for S { fn m(&self) {} }\nfn f<T: «Tr»>(t: &dyn «Tr», u: impl «Tr») where T: «Tr» { <T as «Tr»>::m(t); «Tr»::m(t); }\n',
    },
    newName: 'Trait2',
  },
  {
    title: 'a function named like its module',
    files: {
      'src/lib.rs': 'mod foo;\npub use foo::«foo→renamed as foo»;\nfn x() { foo(); foo::«foo»(); }\n',
      'src/foo.rs': 'pub fn «*foo»() {}\n',
    },
  },
  {
    title: 'a constant in patterns, types and values apart',
    files: {
      'src/lib.rs':
        'const «*MAX»: u32 = 1;\nfn f(x: u32) { match x { «MAX» => 1, _ => [0; «MAX»] } }\nstruct S { MAX: u32 }\n',
    },
    newName: 'TOP',
  },
  {
    title: 'a name that a macro may bind itself',
    files: {
      'src/lib.rs':
        'fn f() { let «*x» = 1; m!(let x = 2; x); n!(|x| x); o!(x => 1); p!(a.x, x: 1); q!("x", «x»); «x»; }\n',
    },
    residual: [1, 2, 3, 4, 5].map(() => 'src/lib.rs:1 opaque').concat('src/lib.rs:1 string'),
  },
  {
    title: 'modules written out, super and self',
    files: {
      'src/lib.rs':
        'mod a { pub fn «*f»() {} pub mod b { use super::«f»; pub fn g() { «f»(); super::super::a::«f»(); self::g(); } } }\nfn f() { a::«f»(); f(); crate::f(); }\n',
    },
  },
  {
    title: 'a module in the file that an attribute names',
    files: {
      'src/lib.rs': '#[path = "odd/name.rs"]\npub mod m;\nuse m::«x»;\nfn f() { «x»(); }\n',
      'src/odd/name.rs': 'pub fn «*x»() {}\n',
    },
  },
  {
    title: 'labels, lifetimes and fields of the same name stay',
    files: { 'src/lib.rs': "fn f<'a>(«*a»: &'a str) { 'a: loop { break 'a; } self.a; b.a(); «a»; m!('a, «a»); }\n" },
  },
  {
    title: 'a keyword as a raw name',
    files: { 'src/lib.rs': 'fn f() { let «*x» = 1; «x»; }\n' },
    newName: 'r#type',
  },
];

describe('rename in Rust edits [S0-54]', () => {
  for (const one of CASES) test(one.title, () => checkRename(engine, one));
});
