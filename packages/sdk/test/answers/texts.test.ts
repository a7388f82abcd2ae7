/**
 * What a model reads of every built-in tool: one sample answer each, and its text in texts.txt. After a change on purpose
 * write them anew: UPDATE_TEXTS=1 npm run t -- answers/texts
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { AnyTool } from '../../src/contracts/tool.ts';
import { presentAnswer } from '../../src/present/present-answer.ts';
import * as catalog from '../../src/tools/catalog.ts';
import type { AnswerSample } from './git-samples.ts';
import { SAMPLES } from './samples.ts';

const FILE = join(import.meta.dirname, 'texts.txt');
const TITLE = /^=== (\S+)\n/m;
const tools = new Map(Object.values(catalog).map((tool): [string, AnyTool] => [tool.name, tool]));

function textOf(name: string, { args, data }: AnswerSample): string {
  const [toolName = ''] = name.split('/');
  const tool = tools.get(toolName);
  assert.ok(tool !== undefined, `${toolName} is in no catalog`);
  const response = { ok: true, data, errors: [], warnings: [] };
  const { text, blocks } = presentAnswer(response, { tool, args: tool.args.parse(args), maxTokens: 25_000 });
  return [text, ...blocks.map((block) => `[block] ${JSON.stringify(block)}`)].join('\n');
}

function writtenTexts(): ReadonlyMap<string, string> {
  const pieces = readFileSync(FILE, 'utf8').split(TITLE).slice(1);
  return new Map(
    pieces.flatMap((name, at): [string, string][] =>
      at % 2 === 0 ? [[name, pieces[at + 1]?.slice(0, -1) ?? '']] : [],
    ),
  );
}

if (process.env['UPDATE_TEXTS'] === '1') {
  const sections = Object.entries(SAMPLES).map(([name, sample]) => `=== ${name}\n${textOf(name, sample)}\n`);
  writeFileSync(FILE, sections.join(''));
}

describe('what a model reads', () => {
  test('every built-in tool has a sample', () => {
    const missing = [...tools.keys()].filter((name) => !Object.hasOwn(SAMPLES, name));
    assert.deepEqual(missing, [], 'add an answer of the tool to samples.ts');
  });

  const written = writtenTexts();
  for (const [name, sample] of Object.entries(SAMPLES)) {
    test(`of ${name} is as written`, () => assert.equal(textOf(name, sample), written.get(name)));
  }
});
