/** Runs one edit on one file and compares the outcome, as it is, with CRLF, with a byte order mark, and with both. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { EditRequest } from '../src/edit/edit-operations.ts';
import { openScratchEditor } from './scratch-editor.ts';

type Without<T, Key extends string> = T extends unknown ? Omit<T, Key> : never;
/** An operation whose target is given by name. */
export type NamedRequest = Without<EditRequest, 'target_node_id'>;

export interface EditCase {
  readonly file: string;
  /** Name of the target, `Container.name` where the name alone is not enough; none for edits of imports. */
  readonly target?: string;
  readonly before: string;
  readonly edit: NamedRequest;
  readonly after: string;
}

const BYTE_ORDER_MARK = '\ufeff';

const VARIANTS: readonly (readonly [string, (text: string) => string])[] = [
  ['', (text) => text],
  [' with CRLF', (text) => text.replaceAll('\n', '\r\n')],
  [' with a byte order mark', (text) => BYTE_ORDER_MARK + text],
  [' without a line end', (text) => text.replace(/\n$/, '')],
];

export function testEdit(name: string, given: EditCase): void {
  test(name, async (t) => {
    const scratch = await openScratchEditor(t, { [given.file]: given.before });
    for (const [variant, change] of VARIANTS) {
      const text = change(given.before);
      scratch.write(given.file, text);
      const plan = await scratch.editor.plan(await requestOf(scratch, given));
      assert.equal(scratch.read(given.file), text, 'planning changes nothing');
      await scratch.editor.apply(plan, scratch.workspace);
      const got = scratch.read(given.file);
      assert.equal(tidy(got), tidy(change(given.after)), `${name}${variant}`);
      if (variant === ' with CRLF') assert.doesNotMatch(got, /[^\r]\n/);
    }
  });
}

/** Whether the last line ends is the file's own affair where the edit is at its end. */
function tidy(text: string): string {
  return text.replace(/\r?\n$/, '');
}

export async function requestOf(
  scratch: Awaited<ReturnType<typeof openScratchEditor>>,
  { file, target, edit }: Pick<EditCase, 'file' | 'target' | 'edit'>,
): Promise<EditRequest> {
  if (target === undefined) return edit as EditRequest;
  const at = target.lastIndexOf('.');
  const where = at === -1 ? { file } : { file, container: target.slice(0, at) };
  const id = await scratch.id(target.slice(at + 1), where);
  return { ...edit, target_node_id: id } as EditRequest;
}

export interface RefusalCase extends Omit<EditCase, 'after'> {
  readonly reason: string;
}

export function testRefusal(name: string, given: RefusalCase): void {
  test(name, async (t) => {
    const scratch = await openScratchEditor(t, { [given.file]: given.before });
    await assert.rejects(scratch.editor.plan(await requestOf(scratch, given)), refusal(given.reason));
    assert.equal(scratch.read(given.file), given.before);
  });
}

export function refusal(reason: string, code = 'E_AST_EDIT'): (thrown: unknown) => boolean {
  return (thrown) => {
    assert.ok(isToolError(thrown), String(thrown));
    assert.deepEqual([thrown.code, thrown.details['reason']], [code, reason], thrown.message);
    return true;
  };
}

export type { TestContext };
