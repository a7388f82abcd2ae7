/** What language servers might say: frames around messages of all kinds, some of them broken, and answers to questions. */
import fc from 'fast-check';
import { joinParts } from '../input-parts.ts';
import { framed } from './fake-server.ts';

const METHODS = [
  'window/logMessage',
  '$/progress',
  '$/cancelRequest',
  'textDocument/publishDiagnostics',
  'workspace/configuration',
].concat([
  'client/registerCapability',
  'experimental/serverStatus',
  'x',
  '$/x',
  '',
  'workspace/applyEdit',
  '$/setTrace',
  '$/logTrace',
  'constructor',
]);
/** Where the workspace is, as servers see it. */
export const ROOT = 'file:///HOST/ROOT';
const URIS = [
  `${ROOT}/a.txt`,
  `${ROOT}/../secret.txt`,
  'file:///etc/passwd',
  `${ROOT}%2f..%2fx`,
  'untitled:1',
  'FILE:///etc/x',
  `${ROOT}/%00`,
  'a.txt',
  '',
];

const id = fc.oneof(fc.nat({ max: 4 }), fc.constantFrom('1', 'a', null, -1, 1.5));
const uri = fc.constantFrom(...URIS);
const count = fc.oneof(fc.nat({ max: 3 }), fc.constantFrom(-1, 1e9, 2 ** 31, 0.5, '0', null));
const position = fc.record({ line: count, character: count });
const range = fc.record({ start: position, end: position });
const textEdit = fc.record({ range, newText: fc.string({ maxLength: 6 }) });

const interesting: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.record({ uri, range }),
  fc.record({ range, placeholder: uri }),
  fc.record({
    items: fc.array(
      fc.record({ range, message: uri, code: uri, source: uri }, { requiredKeys: ['range', 'message'] }),
      { maxLength: 2 },
    ),
  }),
  fc.array(fc.record({ uri, range, targetUri: uri, targetSelectionRange: range }, { requiredKeys: [] }), {
    maxLength: 3,
  }),
  fc.record(
    { contents: fc.oneof(fc.string(), fc.record({ value: uri }), fc.array(uri, { maxLength: 2 })), range },
    { requiredKeys: ['contents'] },
  ),
  fc.array(
    fc.record(
      {
        name: uri,
        kind: count,
        range,
        selectionRange: range,
        location: fc.record({ uri, range }),
        children: fc.jsonValue(),
        detail: uri,
      },
      { requiredKeys: ['name', 'kind'] },
    ),
    { maxLength: 3 },
  ),
  fc.record({ changes: fc.dictionary(uri, fc.array(textEdit, { maxLength: 3 }), { maxKeys: 3 }) }),
  fc.record({
    documentChanges: fc.array(
      fc.oneof(
        fc.record({ textDocument: fc.record({ uri, version: count }), edits: fc.array(textEdit, { maxLength: 3 }) }),
        fc.record(
          { kind: fc.constantFrom('create', 'rename', 'delete', 'x'), uri, oldUri: uri, newUri: uri },
          { requiredKeys: ['kind'] },
        ),
      ),
      { maxLength: 4 },
    ),
  }),
  fc.array(
    fc.record(
      {
        title: uri,
        kind: uri,
        edit: fc.jsonValue(),
        data: uri,
        disabled: fc.record({ reason: uri }),
        command: fc.jsonValue(),
      },
      { requiredKeys: ['title'] },
    ),
    { maxLength: 2 },
  ),
  fc
    .nat({ max: 300 })
    .map((depth) =>
      Array.from({ length: depth }).reduce(
        (inner) => ({ name: 'x', kind: 1, children: [inner], data: 1 }),
        {} as unknown,
      ),
    ),
);

const params = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.record({ token: id, value: fc.record({ kind: fc.constantFrom('begin', 'end', 'report', 1) }) }),
  fc.record({ id }),
  fc.record({
    uri,
    version: count,
    diagnostics: fc.array(fc.record({ range, message: uri, severity: count }, { requiredKeys: ['message'] }), {
      maxLength: 2,
    }),
  }),
  fc.record({
    items: fc.array(fc.record({ section: fc.constantFrom('a.b', '', '__proto__', 'constructor.name', 1) }), {
      maxLength: 2,
    }),
  }),
  fc.record({
    registrations: fc.array(fc.record({ method: fc.constantFrom('textDocument/diagnostic', 'x') }), { maxLength: 2 }),
  }),
);
const message = fc.oneof(
  fc.record(
    { jsonrpc: fc.constant('2.0'), id, method: fc.constantFrom(...METHODS), params },
    { requiredKeys: ['jsonrpc', 'method'] },
  ),
  fc.record(
    {
      jsonrpc: fc.constant('2.0'),
      id,
      result: interesting,
      error: fc.oneof(fc.record({ code: count, message: uri }), fc.jsonValue()),
    },
    { requiredKeys: ['jsonrpc', 'id'] },
  ),
  fc.jsonValue({ maxDepth: 1 }),
);
const frame = fc.oneof(
  { weight: 12, arbitrary: message.map((one) => framed(JSON.stringify(one))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          'Content-Type: x\r\nContent-Length: 2\r\n\r\n',
          'content-length:2 \r\n\r\n',
          'Content-Length: 3\r\n\r\n',
          'Content-Length: 02\r\nX:\r\n\r\n',
          'Listening\n',
          '\r\n\r\n',
        ),
        fc.constantFrom('{}', '[]', '""'),
      )
      .map((parts) => Buffer.from(parts.join(''))),
  },
);

/** A stream of frames, and the answer to every question of the client. */
export const serverOutput: fc.Arbitrary<Buffer> = fc
  .tuple(fc.array(frame, { maxLength: 8 }), interesting)
  .map(([frames, answer]) => joinParts(Buffer.concat(frames), JSON.stringify(answer)));
