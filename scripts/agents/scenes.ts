/** The workspace that agents work in, the calls that their scripted model makes, and what it must be shown of the answers. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptedCall } from './wire.ts';

export interface Scene extends ScriptedCall {
  readonly name: string;
  /** In what the model is shown, as text. */
  readonly shows: readonly RegExp[];
}

const REGISTRY = `version: 1
limits: { max_answer_tokens: 2000 }
approvals: { auto_approve: ['file_*', 'git_*'] }
validators:
  - { rule: commit.message.conventional, enforcement: warning }
`;
/** One red pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const LINES = Array.from({ length: 3000 }, (_, at) => `line ${at + 1} of a large file`);
const PICTURE = /"(?:image|input_image|image_url|inlineData|media)"|data:image\/png/;

export const SCENES: readonly Scene[] = [
  {
    name: 'large',
    tool: 'grep',
    args: { pattern: 'line 1\\d\\d of' },
    shows: [/100 matches in 1 file/, /line 199 of/],
  },
  {
    name: 'cut',
    tool: 'file_read',
    args: { path: 'large.txt' },
    shows: [/\[cut: lines 1 to \d+ of 3000 shown/, /Rest: file_read \{"path":"large.txt","offset":\d+\}/],
  },
  { name: 'failing', tool: 'file_read', args: { path: 'missing.txt' }, shows: [/E_[A-Z_]+: .*missing\.txt/, /next: /] },
  {
    name: 'warned',
    tool: 'git_commit',
    args: { message: 'not a conventional subject' },
    shows: [/warning.*commit\.message\.conventional/is],
  },
  { name: 'image', tool: 'file_read', args: { path: 'dot.png' }, shows: [PICTURE] },
  { name: 'denied', tool: 'file_read', args: { path: '../secret.txt' }, shows: [/E_POLICY/, /sec\.paths\.sandbox/] },
];

export function prepareWorkspace(workspace: string): void {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: workspace, stdio: 'ignore' });
  git('init', '-b', 'main');
  git('config', 'user.name', 'Agent');
  git('config', 'user.email', 'agent@example.org');
  writeFileSync(join(workspace, 'large.txt'), `${LINES.join('\n')}\n`);
  writeFileSync(join(workspace, 'dot.png'), Buffer.from(PIXEL, 'base64'));
  writeFileSync(join(workspace, 'README.md'), '# Agents\n');
  git('add', 'README.md');
  git('commit', '-m', 'docs: start');
  git('add', 'large.txt');
}

export function writeRegistry(file: string): void {
  writeFileSync(file, REGISTRY);
}
