/** Files, trees, tokens and the counter. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { judgeCounter } from '../oracle/check-told.ts';
import { FileModel, treeFiles } from '../oracle/file-model.ts';
import { TokenLedger, tokenFolder, tokenHits, tokenLines } from '../oracle/token-ledger.ts';
import type { CasePlace, OracleCase } from '../self-test.ts';

function plantTree({ write }: CasePlace, name: string, without?: string): void {
  for (const [file, text] of Object.entries(treeFiles())) if (file !== without) write(`${name}/${file}`, text);
}

export const storageCases: readonly OracleCase[] = [
  {
    name: 'an acknowledged write that is lost',
    finds: /wrong content: a\.txt/,
    judge({ folder, violations, write }, broken) {
      const files = new FileModel(folder);
      files.begin('a.txt', 'new')('done');
      write('a.txt', broken ? 'old' : 'new');
      files.check(violations);
    },
  },
  {
    name: 'half of a write whose outcome is unknown',
    finds: /wrong content: a\.txt/,
    judge({ folder, violations, write }, broken) {
      const files = new FileModel(folder);
      files.begin('a.txt', 'old')('done');
      files.begin('a.txt', 'new content')('unknown');
      write('a.txt', broken ? 'new con' : 'new content');
      files.check(violations);
    },
  },
  {
    name: 'a refused write that happened',
    finds: /wrong content: a\.txt/,
    judge({ folder, violations, write }, broken) {
      const files = new FileModel(folder);
      files.begin('a.txt', 'old')('done');
      files.begin('a.txt', 'new')('not done');
      write('a.txt', broken ? 'new' : 'old');
      files.check(violations);
    },
  },
  {
    name: 'half a tree',
    finds: /wrong tree: tree is half there/,
    judge(place, broken) {
      const files = new FileModel(place.folder);
      files.beginTree('tree', 'present')('unknown');
      plantTree(place, 'tree', broken ? Object.keys(treeFiles())[0] : undefined);
      files.check(place.violations);
    },
  },
  {
    name: 'a moved tree that is in both places',
    finds: /two places or none/,
    judge(place, broken) {
      const files = new FileModel(place.folder);
      files.beginTree('from', 'absent')('unknown');
      files.beginTree('from', 'present')('unknown');
      files.beginTree('to', 'present')('unknown');
      files.mayHaveMoved('from', 'to');
      plantTree(place, 'to');
      if (broken) plantTree(place, 'from');
      files.check(place.violations);
    },
  },
  {
    name: 'a token that is there twice',
    finds: /effect 2 times/,
    judge({ folder, violations }, broken) {
      const tokens = new TokenLedger();
      tokens.begin(tokenLines('log', join(folder, 'log')), 'token')('unknown');
      writeFileSync(join(folder, 'log'), broken ? 'token\ntoken\n' : 'token\n');
      tokens.check(violations);
    },
  },
  {
    name: 'an acknowledged token that is missing',
    finds: /acknowledged effect is missing/,
    judge({ folder, violations, write }, broken) {
      const tokens = new TokenLedger();
      tokens.begin(tokenFolder('folder', folder), 'token')('done');
      if (!broken) write('token.a1b2c3', '');
      tokens.check(violations);
    },
  },
  {
    name: 'a refused request that was sent',
    finds: /refused effect happened/,
    judge({ violations }, broken) {
      const tokens = new TokenLedger();
      const hits = new Map(broken ? [['site-1', 1]] : []);
      tokens.begin(tokenHits('requests', hits, 'site-'), 'site-1')('not done');
      tokens.check(violations);
    },
  },
  {
    name: 'a command nobody asked for',
    finds: /nobody asked for/,
    judge({ folder, violations, write }, broken) {
      const tokens = new TokenLedger();
      tokens.begin(tokenFolder('folder', folder), 'token')('unknown');
      if (broken) write('other.a1b2c3', '');
      tokens.check(violations);
    },
  },
  {
    name: 'a lost update of the counter',
    finds: /counter of main is 2/,
    judge: ({ violations }, broken) =>
      judgeCounter('main', broken ? 2 : 3, { acknowledged: 3, unknown: 1 }, violations),
  },
];
