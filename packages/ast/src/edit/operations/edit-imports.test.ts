import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testEdit, testRefusal } from '../../../test/edit-case.ts';
import { openScratchEditor } from '../../../test/scratch-editor.ts';

type More = { name?: string; alias?: string; type_only?: boolean };
const add = (file: string, source: string, more: More = {}) =>
  ({ operation: 'add_import', file, source, ...more }) as const;
const remove = (file: string, source: string, name?: string) =>
  ({ operation: 'remove_import', file, source, ...(name === undefined ? {} : { name }) }) as const;

const TS = "import a, { b, type C } from './x';\nimport './s';\n\nfoo(a, b);\n";
const PY =
  '"""Doc."""\nfrom __future__ import annotations\nimport os, sys as s\nfrom .a import (\n    c,\n    d as e,\n)\n\nx = 1\n';

describe('add_import', () => {
  const cases: readonly (readonly [string, string, string, ReturnType<typeof add>, string])[] = [
    ['merges a name into its list', 'a.ts', TS, add('a.ts', './x', { name: 'n' }), TS.replace('C }', 'C, n }')],
    [
      'merges a type into a list of values',
      'a.ts',
      TS,
      add('a.ts', './x', { name: 'N', type_only: true }),
      TS.replace('C }', 'C, type N }'),
    ],
    [
      'adds a statement below the others',
      'a.ts',
      TS,
      add('a.ts', './y', { name: 'n', alias: 'm' }),
      TS.replace("'./s';\n", "'./s';\nimport { n as m } from './y';\n"),
    ],
    [
      'knows default and namespace imports',
      'a.ts',
      'import x from "y"\n',
      add('a.ts', 'n', { name: '*', alias: 'ns' }),
      'import x from "y"\nimport * as ns from "n"\n',
    ],
    [
      'goes below a licence and above a documented declaration',
      'a.ts',
      '/* Licence é */\n\n/** Doc. */\nexport const x = 1;\n',
      add('a.ts', './y', { name: 'n' }),
      "/* Licence é */\n\nimport { n } from './y';\n\n/** Doc. */\nexport const x = 1;\n",
    ],
    [
      'does not put values among types',
      'a.ts',
      "import type { T } from './x';\n",
      add('a.ts', './x', { name: 'v' }),
      "import type { T } from './x';\nimport { v } from './x';\n",
    ],
    [
      'merges into a Python list over several lines',
      'a.py',
      PY,
      add('a.py', '.a', { name: 'f' }),
      PY.replace('    d as e,\n', '    d as e,\n    f,\n'),
    ],
    ['adds a Python module', 'a.py', PY, add('a.py', 're', {}), PY.replace(')\n', ')\nimport re\n')],
    [
      'keeps future imports first',
      'a.py',
      PY,
      add('a.py', '__future__', { name: 'division' }),
      PY.replace('annotations\n', 'annotations\nfrom __future__ import division\n'),
    ],
    [
      'goes below shebang and docstring',
      'a.py',
      '#!/usr/bin/python\n"""Doc."""\nx = 1\n',
      add('a.py', 're'),
      '#!/usr/bin/python\n"""Doc."""\n\nimport re\n\nx = 1\n',
    ],
    [
      'merges a Rust use list',
      'a.rs',
      '#![allow(x)]\nuse a::{b, c as d};\n\nfn f() {}\n',
      add('a.rs', 'a', { name: 'e' }),
      '#![allow(x)]\nuse a::{b, c as d, e};\n\nfn f() {}\n',
    ],
    [
      'goes below inner docs in Rust',
      'a.rs',
      '//! Crate\n#![allow(x)]\n\n/// Doc\nfn f() {}\n',
      add('a.rs', 'a::b', { name: 'c' }),
      '//! Crate\n#![allow(x)]\n\nuse a::b::c;\n\n/// Doc\nfn f() {}\n',
    ],
    [
      'joins the block of Go',
      'a.go',
      'package a\n\nimport (\n\t"os"\n)\n',
      add('a.go', 'a/b', { alias: 'c' }),
      'package a\n\nimport (\n\t"os"\n\tc "a/b"\n)\n',
    ],
    [
      'goes below the package clause',
      'a.go',
      '// Package a.\npackage a\n\nfunc F() {}\n',
      add('a.go', 'os'),
      '// Package a.\npackage a\n\nimport "os"\n\nfunc F() {}\n',
    ],
    [
      'works in Java',
      'A.java',
      'package a;\n\nclass A {}\n',
      add('A.java', 'b.c', { name: 'D' }),
      'package a;\n\nimport b.c.D;\n\nclass A {}\n',
    ],
    [
      'works in Kotlin',
      'a.kt',
      'package a\n\nimport b.C\n\nclass A\n',
      add('a.kt', 'b', { name: 'D', alias: 'E' }),
      'package a\n\nimport b.C\nimport b.D as E\n\nclass A\n',
    ],
    [
      'works in C',
      'a.c',
      '#include <stdio.h>\nint x;\n',
      add('a.c', 'a.h'),
      '#include <stdio.h>\n#include "a.h"\nint x;\n',
    ],
    [
      'works in PHP',
      'a.php',
      '<?php\nnamespace A;\nuse B\\C;\n\nclass D {}\n',
      add('a.php', 'B', { name: 'E' }),
      '<?php\nnamespace A;\nuse B\\C;\nuse B\\E;\n\nclass D {}\n',
    ],
    [
      'works in C#',
      'a.cs',
      'using System;\n\nclass A {}\n',
      add('a.cs', 'System.IO'),
      'using System;\nusing System.IO;\n\nclass A {}\n',
    ],
  ];
  for (const [name, file, before, edit, after] of cases) testEdit(`${name} [S0-54]`, { file, before, edit, after });

  test('changes nothing when the name is imported already [S0-54]', async (t) => {
    const { editor } = await openScratchEditor(t, { 'a.ts': TS });
    const plan = await editor.plan(add('a.ts', './x', { name: 'b' }));
    assert.deepEqual([plan.files, plan.warnings], [[], ['imported already: b in a.ts']]);
  });

  testRefusal('refuses a form the language does not have [S0-54]', {
    file: 'a.go',
    before: 'package a\n',
    edit: add('a.go', 'os', { name: 'Exit' }),
    reason: 'no_import_form',
  });
  testRefusal('refuses a language without imports [S0-54]', {
    file: 'a.json',
    before: '{}\n',
    edit: add('a.json', 'x'),
    reason: 'no_imports',
  });
});

describe('remove_import', () => {
  const cases: readonly (readonly [string, string, string, ReturnType<typeof remove>, string])[] = [
    ['takes a name out of a list', 'a.ts', TS, remove('a.ts', './x', 'C'), TS.replace(', type C', '')],
    ['takes the default import out', 'a.ts', TS, remove('a.ts', './x', 'default'), TS.replace('a, {', '{')],
    [
      'takes the last name of a list with its brackets',
      'a.ts',
      "import a, { b } from './x';\n\nfoo(a);\n",
      remove('a.ts', './x', 'b'),
      "import a from './x';\n\nfoo(a);\n",
    ],
    ['removes the whole statement', 'a.ts', TS, remove('a.ts', './s'), TS.replace("import './s';\n", '')],
    ['takes a module out of a Python list', 'a.py', PY, remove('a.py', 'os'), PY.replace('os, ', '')],
    ['takes a name out of several lines', 'a.py', PY, remove('a.py', '.a', 'c'), PY.replace('    c,\n', '')],
    ['takes a name out of a Rust list', 'a.rs', 'use a::{b, c};\n', remove('a.rs', 'a', 'c'), 'use a::{b};\n'],
    [
      'takes a line out of a Go block',
      'a.go',
      'package a\n\nimport (\n\t"fmt"\n\t"os"\n)\n',
      remove('a.go', 'fmt'),
      'package a\n\nimport (\n\t"os"\n)\n',
    ],
    [
      'leaves no double blank line',
      'A.java',
      'package a;\n\nimport b.C;\n\nclass A {}\n',
      remove('A.java', 'b', 'C'),
      'package a;\n\nclass A {}\n',
    ],
  ];
  for (const [name, file, before, edit, after] of cases) testEdit(`${name} [S0-54]`, { file, before, edit, after });

  test('warns about names that are still used [S0-54]', async (t) => {
    const { editor } = await openScratchEditor(t, { 'a.ts': TS });
    const plan = await editor.plan(remove('a.ts', './x', 'b'));
    assert.deepEqual(plan.warnings, ['still used without its import: b in a.ts']);
  });

  testRefusal('refuses an import that is not there [S0-54]', {
    file: 'a.ts',
    before: TS,
    edit: remove('a.ts', './nowhere'),
    reason: 'no_such_import',
  });
});
