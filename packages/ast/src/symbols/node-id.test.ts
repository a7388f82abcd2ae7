import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeId, nodeRev } from './node-id.ts';

const PARTS = { type: 'fn', container: 'A.b', name: 'c', ordinal: 0 } as const;

test('an id is made of path, type, container, name and ordinal, and of nothing else [S0-53]', () => {
  const id = nodeId('src/a.ts', PARTS);
  assert.match(id, /^n[A-Za-z0-9]{12}$/);
  assert.equal(nodeId('src/a.ts', { ...PARTS }), id);
  const others = [
    nodeId('src/b.ts', PARTS),
    nodeId('src/a.ts', { ...PARTS, type: 'method' }),
    nodeId('src/a.ts', { ...PARTS, container: 'A' }),
    nodeId('src/a.ts', { ...PARTS, name: 'd' }),
    nodeId('src/a.ts', { ...PARTS, ordinal: 1 }),
    nodeId('src/a.ts', { ...PARTS, container: 'A', name: 'b.c' }),
  ];
  assert.equal(new Set([id, ...others]).size, 7);
});

test('an id keeps its form whatever the digest looks like', () => {
  for (let ordinal = 0; ordinal < 500; ordinal++)
    assert.match(nodeId('p', { ...PARTS, ordinal }), /^n[A-Za-z0-9]{12}$/);
});

test('a rev is the same for bytes and for their text', () => {
  assert.match(nodeRev('é'), /^r[A-Za-z0-9]{12}$/);
  assert.equal(nodeRev(Buffer.from('é')), nodeRev('é'));
  assert.notEqual(nodeRev('e'), nodeRev('é'));
});
