/**
 * A small agent: finds the files with a TODO, turns each into a note in `TODO.md`, and runs a check. A real one would
 * ask a model.
 */
import type { Session } from '@tool-runtime/sdk';

export interface Report {
  readonly todos: readonly string[];
  readonly isChecked: boolean;
}

export async function collectTodos(session: Session): Promise<Report> {
  const found = await session.call('grep', { pattern: 'TODO' });
  if (!found.ok) throw new Error(found.errors[0]?.message);
  const { matches } = found.data;
  const todos = matches.map(({ file, line, snippet }) => `${file}:${line} ${snippet.replace(/^.*TODO:? */, '')}`);
  const content = todos.map((todo) => `- ${todo}\n`).join('');
  const written = await session.call('file_write', { path: 'TODO.md', content });
  if (!written.ok) throw new Error(written.errors[0]?.message);
  const checked = await session.call('shell_exec', { argv: ['grep', '-c', '-', 'TODO.md'] });
  return { todos, isChecked: checked.ok };
}
