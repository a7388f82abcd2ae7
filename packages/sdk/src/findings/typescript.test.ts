import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

const EXPECTED = [
  {
    path: 'src/a.ts',
    line: 1,
    column: 7,
    severity: 'error',
    code: 'TS2322',
    message: "Type 'string' is not assignable to type 'number'.",
  },
  {
    path: 'app/(shop)/[id]/page.tsx',
    line: 2,
    column: 41,
    severity: 'error',
    code: 'TS2339',
    message: "Property 'foo' does not exist on type 'string'.",
  },
];

test('tsc gives its findings in the plain form', () => {
  const output = `src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.
app/(shop)/[id]/page.tsx(2,41): error TS2339: Property 'foo' does not exist on type 'string'.
  Overload 1 of 2 gave the following error.
`;
  assert.deepEqual(parseFindings(output).findings, EXPECTED);
});

test('tsc gives the same in the pretty form, colours and frames left out', () => {
  const output = `\u001b[96msrc/a.ts\u001b[0m:\u001b[93m1\u001b[0m:\u001b[93m7\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2322: \u001b[0mType 'string' is not assignable to type 'number'.

\u001b[7m1\u001b[0m const x: number = 'a';
\u001b[7m \u001b[0m \u001b[91m      ~\u001b[0m

app/(shop)/[id]/page.tsx:2:41 - error TS2339: Property 'foo' does not exist on type 'string'.

Found 2 errors in 2 files, starting at: src/a.ts:1
`;
  assert.deepEqual(parseFindings(output).findings, EXPECTED);
});

test('MSBuild prints the plain form with the project behind it', () => {
  const output =
    "C:\\ws\\App\\Program.cs(12,5): error CS0103: The name 'x' does not exist in the current context [C:\\ws\\App\\App.csproj]";
  assert.deepEqual(parseFindings(output, { root: 'c:\\ws' }).findings, [
    {
      path: 'App/Program.cs',
      line: 12,
      column: 5,
      severity: 'error',
      code: 'CS0103',
      message: "The name 'x' does not exist in the current context",
    },
  ]);
});

test('lines that only resemble tsc give nothing', () => {
  const output = `error TS18003: No inputs were found in config file 'tsconfig.json'.
retry(3,5): error while reading
call to f(1,2): error TS was raised
[10:42:11] File change detected. Starting incremental compilation...
`;
  assert.deepEqual(parseFindings(output).findings, []);
});
