import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ShellSettings } from '../contracts/registry.ts';
import { compileAllowlistPattern, compilePattern } from '../pattern/compile-pattern.ts';
import { describeCommands } from './describe-commands.ts';

interface Given {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  readonly domains?: readonly string[];
  readonly unseen?: ShellSettings['unseen'];
}

function words(mode: ShellSettings['mode'], given: Given = {}): string {
  const { allow = [], deny = [], ask = [], domains = [], unseen = 'allow' } = given;
  return describeCommands({
    shell: { mode, unseen },
    shellAllow: allow.map(compileAllowlistPattern),
    shellDeny: deny.map(compilePattern),
    shellAsk: ask.map(compilePattern),
    allowedDomains: domains,
  });
}

describe('what a model is told about command lines', () => {
  test('strict: the programs, what a line may not hold, and what to use instead', () => {
    const text = words('strict', { allow: ['^npm test$', '^npm run \\w+$', '^(ls|wc)( |$)'], deny: ['^npm publish'] });
    assert.match(text, /^Programs allowed: npm, \^\(ls\|wc\)\( \|\$\)\. Never allowed: \^npm publish\. Plain commands/);
    assert.match(text, /no redirection, globs, \$VAR, cd or VAR=\. Use cwd, env, stdin and yield_after_ms/);
    assert.equal(words('strict'), 'No command is allowed here: the registry has no shell_allow');
  });

  test('sandboxed: the programs, the lists, the network and .git', () => {
    assert.match(
      words('sandboxed'),
      /^Any bash line, run inside the sandbox\. Any program\. No network\. \.git is read-only/,
    );
    const text = words('sandboxed', {
      allow: ['^make'],
      deny: ['^rm'],
      ask: ['push'],
      domains: ['a.test'],
      unseen: 'deny',
    });
    assert.match(text, /Programs allowed: make\. Never allowed: \^rm\. Needs approval: push\. No eval/);
    assert.match(text, /Network only with allow_network: a\.test/);
  });

  test('long lists are cut, and say so', () => {
    const allow = Array.from({ length: 20 }, (_, at) => `^p${at}$`);
    assert.match(words('strict', { allow }), /p11 and 8 more\. /);
  });
});
