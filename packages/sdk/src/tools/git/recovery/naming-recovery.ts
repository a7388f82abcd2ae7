/** Whatever goes wrong after something was saved, the error says where to go back to. */
import { isToolError, ToolError } from '@tool-runtime/protocol';

export async function namingRecovery<T>({ ref }: { readonly ref: string }, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (thrown) {
    if (!isToolError(thrown) || thrown.details['recovery'] !== undefined) throw thrown;
    throw new ToolError(thrown.code, thrown.message, {
      ...(thrown.path === undefined ? {} : { path: thrown.path }),
      details: { ...thrown.details, recovery: ref },
      cause: thrown,
    });
  }
}
