/** `/v1/sessions/{session_id}` → `['session_id']` */
export function parameterNames(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1] ?? '');
}
