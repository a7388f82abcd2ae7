/** Facts as lines people can read and compare: the form of the expected files beside the language fixtures. */
import type { FileFacts, ImportFact, NodeFact, RefFact } from '../src/contracts/facts.ts';

export function describeFacts(facts: FileFacts): string {
  const sections = [
    ['file', [fileLine(facts)]],
    ['nodes', facts.nodes.map(nodeLine)],
    ['imports', facts.imports.map(importLine)],
    ['refs', facts.refs.map((ref) => refLine(ref, facts.nodes))],
    [
      'problems',
      facts.problems.map((one) => `${one.line}:${one.col} ${one.span.start}-${one.span.end} ${one.message}`),
    ],
  ] as const;
  const blocks = sections.map(([title, lines]) => [`[${title}]`, ...lines].join('\n'));
  return `${blocks.join('\n')}\n`;
}

/** Where a fixture pretends to lie: `tests__it.rs` is tests/it.rs, `sample.rs` is src/sample.rs. */
export function fixturePath(file: string): string {
  return file.includes('__') ? file.replaceAll('__', '/') : `src/${file}`;
}

function fileLine(facts: FileFacts): string {
  return words([
    facts.language,
    facts.library && 'library',
    facts.generated && 'generated',
    `problems=${facts.problemCount}`,
  ]);
}

function nodeLine(node: NodeFact): string {
  return words([
    `${node.line}:${node.col}-${node.endLine}:${node.endCol}`,
    node.subtype === undefined ? node.type : `${node.type}/${node.subtype}`,
    node.container === '' ? node.name : `${node.container} > ${node.name}`,
    node.ordinal > 0 && `#${node.ordinal}`,
    node.exported && 'exported',
    node.hasDoc && 'doc',
    node.test && 'test',
    `parent=${node.parent}`,
    `span=${node.span.start}-${node.span.end}`,
    node.fullSpan.start !== node.span.start && `full=${node.fullSpan.start}`,
    `name=${node.nameSpan.start}-${node.nameSpan.end}`,
    node.bodySpan !== undefined && `body=${node.bodySpan.start}-${node.bodySpan.end}`,
    node.id,
    `| ${node.signature}`,
  ]);
}

function importLine(one: ImportFact): string {
  return words([
    `${one.line}@${one.start}`,
    one.source,
    one.name !== undefined && `name=${one.name}`,
    one.alias !== undefined && `alias=${one.alias}`,
    one.star === true && 'star',
    one.typeOnly === true && 'type',
    one.reexport === true && 'reexport',
  ]);
}

function refLine(ref: RefFact, nodes: readonly NodeFact[]): string {
  return words([
    `${ref.line}@${ref.start}`,
    ref.opaque === true ? `${ref.kind}/opaque` : ref.kind,
    ref.name,
    ref.node >= 0 && `in ${nodes[ref.node]?.name}`,
  ]);
}

function words(parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join(' ');
}
