/** Chapters of the HTTP interface. The first that fits the path of a route takes it. */

export interface Tag {
  readonly name: string;
  readonly description: string;
}

const TAGS: readonly (Tag & { readonly paths: RegExp })[] = [
  { name: 'calls', description: 'Calls of tools, and their answers', paths: /^\/v1\/(?:call|tools)$|\/calls\// },
  { name: 'plans', description: 'What the gates would answer to calls that have not been made', paths: /\/plans$/ },
  { name: 'children', description: 'Sessions that belong to another session', paths: /\/(?:children|detach)$/ },
  { name: 'sessions', description: 'What a client may use, and for how long', paths: /^\/v1\/sessions/ },
  { name: 'events', description: 'What happens while calls run', paths: /^\/v1\/events/ },
  { name: 'approvals', description: 'Questions that a person answers', paths: /^\/v1\/approvals/ },
  { name: 'host', description: 'The host itself', paths: /^/ },
];

export function tagOf(path: string): string {
  return TAGS.find(({ paths }) => paths.test(path))?.name ?? 'host';
}

export function tagsOf(paths: readonly string[]): readonly Tag[] {
  const used = new Set(paths.map(tagOf));
  return TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }));
}
