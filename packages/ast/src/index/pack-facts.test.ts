import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FileFacts, NODE_TYPES, type NodeFact } from '../contracts/facts.ts';
import { markOf } from './facts-layout.ts';
import { FactsView } from './facts-view.ts';
import { callsOf, idKey, idsOf, namesOf, sourcesOf } from './file-card.ts';
import { NameTable } from './name-table.ts';
import { packFacts } from './pack-facts.ts';
import { queryNode } from './query-node.ts';
import { packColumns, unpackColumns } from './stored-columns.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', 'name', 'a name of more than thirteen units', '\ud83c'),
);
const place = fc.nat({ max: 1_000_000 });
const span = fc.record({ start: place, end: place }, { noNullPrototype: true });
const id = fc.stringMatching(/^n[0-9A-Za-z]{12}$/);

const node: fc.Arbitrary<NodeFact> = fc.record(
  {
    ...{
      id,
      rev: id,
      type: fc.constantFrom(...NODE_TYPES),
      name: text,
      container: text,
      parent: fc.integer({ min: -1 }),
    },
    subtype: text.filter((word) => word !== ''),
    ...{ ordinal: place, ambiguous: fc.constant(true), span, fullSpan: span, nameSpan: span, bodySpan: span },
    ...{ line: place, col: place, endLine: place, endCol: place },
    ...{ exported: fc.boolean(), hasDoc: fc.boolean(), test: fc.boolean(), signature: text },
  },
  {
    noNullPrototype: true,
    requiredKeys: [
      ...(['id', 'rev', 'type', 'name', 'container', 'parent', 'ordinal', 'span', 'fullSpan', 'nameSpan'] as const),
      ...(['line', 'col', 'endLine', 'endCol', 'exported', 'hasDoc', 'test', 'signature'] as const),
    ],
  },
);

const yes = fc.constant(true);
const facts: fc.Arbitrary<FileFacts> = fc.record({
  language: fc.constant('typescript'),
  nodes: fc.array(node, { maxLength: 6 }),
  refs: fc.array(
    fc.record(
      {
        kind: fc.constantFrom('call', 'macro', 'new'),
        name: text,
        start: place,
        line: place,
        node: place,
        opaque: yes,
      },
      { noNullPrototype: true, requiredKeys: ['kind', 'name', 'start', 'line', 'node'] },
    ),
  ),
  imports: fc.array(
    fc.record(
      { source: text, name: text, alias: text, star: yes, typeOnly: yes, reexport: yes, start: place, line: place },
      { noNullPrototype: true, requiredKeys: ['source', 'start', 'line'] },
    ),
  ),
  problems: fc.array(
    fc.record(
      { kind: fc.constantFrom('error', 'missing'), span, line: place, col: place, message: text },
      { noNullPrototype: true },
    ),
  ),
  problemCount: place,
  generated: fc.boolean(),
  library: fc.boolean(),
});

test('packed facts say what the facts said', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const view = new FactsView(packFacts(given));
      assert.deepEqual(view.imports(), given.imports);
      assert.deepEqual(view.problems(), given.problems);
      assert.deepEqual(
        given.refs.map((_, at) => view.ref(at)),
        given.refs,
      );
      assert.deepEqual(
        [view.nodeCount, view.refCount, view.problemCount, view.generated, view.library],
        [given.nodes.length, given.refs.length, given.problemCount, given.generated, given.library],
      );
      for (const [at, one] of given.nodes.entries()) {
        const shown = queryNode(view, at, { path: 'a.ts', language: 'typescript' });
        assert.deepEqual(
          [shown.id, shown.rev, shown.type, shown.subtype, shown.name, shown.container, shown.signature],
          [one.id, one.rev, one.type, one.subtype, one.name, one.container, one.signature],
        );
        assert.deepEqual(
          [shown.span, shown.full_span, shown.name_span, shown.body_span],
          [one.span, one.fullSpan, one.nameSpan, one.bodySpan],
        );
        assert.deepEqual(
          [shown.line, shown.col, shown.end_line, shown.end_col, shown.exported, shown.has_doc, shown.test],
          [one.line, one.col, one.endLine, one.endCol, one.exported, one.hasDoc, one.test],
        );
        assert.equal(view.earlier()[at]?.ordinal, one.ordinal);
        assert.equal(view.number(at, 'parent'), one.parent);
      }
    }),
  );
});

test('columns come back from bytes with the names, calls and sources of the facts, in the numbers of another table', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const table = new NameTable();
      table.add('something else');
      const columns = unpackColumns(packColumns(given), table);
      const spelled = (names: Uint32Array) => [...names].map((name) => table.text(name));
      assert.deepEqual(
        spelled(namesOf(columns)),
        given.nodes.map(({ name }) => name),
      );
      assert.deepEqual(spelled(callsOf(columns)), [...new Set(given.refs.map(({ name }) => name))]);
      assert.deepEqual(spelled(sourcesOf(columns)), [...new Set(given.imports.map(({ source }) => source))]);
      assert.deepEqual([...columns.cells.subarray(0, columns.nodeCount)], given.nodes.map(markOf));
      assert.deepEqual(
        [...idsOf(columns)],
        given.nodes.map(({ id }) => idKey(id)),
      );
      assert.deepEqual(
        [columns.problemCount, columns.generated, columns.library],
        [given.problemCount, given.generated, given.library],
      );
    }),
  );
});
