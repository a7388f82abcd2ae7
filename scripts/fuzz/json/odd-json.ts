/** JSON texts that are almost what a reader expects: one field of a good message replaced, doubled, left out or misspelled. */
import fc from 'fast-check';

type Fields = Readonly<Record<string, unknown>>;

const ODD_NUMBERS = ['1e400', '-0', '1.5', '9007199254740993', '00', '1e', '0x1'];

const oddValue = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(...ODD_NUMBERS, 'null', '""', '[]', '{}', '{"__proto__":{}}', '{"a":1,"a":2}', '"\\ud800"'),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.nat({ max: 90 }).map((depth) => `${'['.repeat(depth)}1${']'.repeat(depth)}`),
);
const oddName = fc.constantFrom(
  '__proto__',
  'constructor',
  'type',
  'Type',
  'id',
  '',
  'request_id',
  't\\u0079pe',
  'extra',
);
const space = fc.constantFrom('', '', '', ' ', '\n', '\t ');

interface Change {
  readonly at: number;
  readonly kind: 'replace' | 'leave out' | 'double' | 'add';
  readonly name: string;
  readonly value: string;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat({ max: 40 }),
  kind: fc.constantFrom('replace', 'replace', 'leave out', 'double', 'add'),
  name: oddName,
  value: oddValue,
});

/** Texts made of the samples, with up to three changes each; objects inside them are changed as well. */
export function oddJson(samples: readonly Fields[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...samples), fc.array(change, { maxLength: 3 }), space, fc.boolean())
    .map(([sample, changes, between, isDeep]) => {
      const inner = isDeep ? changes.slice(1) : [];
      const outer = isDeep ? changes.slice(0, 1) : changes;
      return written(membersOf(sample, inner), outer, between);
    });
}

type Members = readonly (readonly [name: string, value: string])[];

function membersOf(fields: Fields, changes: readonly Change[]): Members {
  return Object.entries(fields).map(([name, value]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [
      JSON.stringify(name),
      isObject ? written(membersOf(value as Fields, []), changes, '') : JSON.stringify(value),
    ];
  });
}

function written(members: Members, changes: readonly Change[], between: string): string {
  const list = members.map(([name, value]) => [name, value] as [string, string]);
  for (const { at, kind, name, value } of changes) {
    const index = list.length === 0 ? 0 : at % list.length;
    const chosen = list[index];
    if (kind === 'add' || chosen === undefined) list.splice(index, 0, [`"${name}"`, value]);
    else if (kind === 'replace') list[index] = [chosen[0], value];
    else if (kind === 'double') list.push([chosen[0], value]);
    else list.splice(index, 1);
  }
  return `{${list.map(([name, value]) => `${between}${name}:${between}${value}`).join(`${between},`)}${between}}`;
}
