import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stderrLines } from './stderr-lines.ts';

test('a server that complains without end fills no log, and is heard again a minute later', () => {
  const written: string[] = [];
  const write = (event: string, fields: Readonly<Record<string, unknown>> = {}) =>
    void written.push(`${event} ${fields['line'] ?? fields['lines'] ?? ''}`);
  let time = 0;
  const complain = stderrLines('s', { debug: write, info: write, warn: write }, () => time);
  for (let line = 0; line < 1000; line++) complain(`line ${line}`);
  assert.equal(written.length, 61);
  time = 60_000;
  complain('again');
  assert.deepEqual(written.slice(-2), ['mcp_server_stderr_dropped 940', 'mcp_server_stderr again']);
});
