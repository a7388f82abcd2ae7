/** A git repository of some hundred files with a history, and a bare one beside it to push to. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const SOURCE_FILES = 300;
/** Every so many files holds the word searches look for. */
export const NEEDLE_STRIDE = 10;

export function sourceName(index: number): string {
  return `src/part-${index % 12}/file-${index}.ts`;
}

export function sourceText(index: number): string {
  const word = index % NEEDLE_STRIDE === 0 ? 'needle' : 'hay';
  const lines = [`/** Part ${index}: ${word}. */`, `export function part${index}(value: number): number {`];
  return `${lines.join('\n')}\n  return value + ${index};\n}\n`;
}

const GO_MODULE = {
  'go.mod': 'module example.org/chaos\n\ngo 1.19\n',
  'greet.go': 'package chaos\n\n// Greet greets.\nfunc Greet(name string) string { return "hello " + name }\n',
  'use.go': 'package chaos\n\nfunc Use() string { return Greet("you") }\n',
};

/** What calls own lies in folders git ignores: no verb of git touches it. */
const IGNORED = ['lanes/', 'tokens/', 'shared/', 'marks/'];

export function plantRepository(folder: string, remote: string): void {
  const files: Record<string, string> = { ...GO_MODULE, '.gitignore': `${IGNORED.join('\n')}\n` };
  for (let index = 0; index < SOURCE_FILES; index++) files[sourceName(index)] = sourceText(index);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const name of IGNORED) mkdirSync(join(folder, name), { recursive: true });
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', remote]);
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'config', 'user.name', 'Chaos');
  git(folder, 'config', 'user.email', 'chaos@example.org');
  git(folder, 'add', '.');
  git(folder, 'commit', '-q', '-m', 'chore: begin');
  git(folder, 'remote', 'add', 'origin', remote);
  git(folder, 'push', '-q', '-u', 'origin', 'main');
}

export function git(folder: string, ...words: string[]): string {
  return execFileSync('git', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
