/** What an approver reads of a command, and what a yes for the session would cover, in words and as the key it is remembered by. */
import type { JudgedCall } from '../state/call-types.ts';
import type { SessionParts } from '../state/session-parts.ts';

export function commandText({ subject }: JudgedCall, { redactor }: SessionParts): string {
  const folder = subject.paths[0]?.value ?? '.';
  const network = subject.profile.side_effect_level === 'network' ? ['with network'] : [];
  const lines = subject.commands.flatMap(({ list }) => {
    const { pipelines, script } = list();
    const commands = script?.seen ?? pipelines.flatMap((each) => each.commands);
    const line = script === undefined ? [] : [`line: ${redactor.redactCommand(script.text)}`];
    return [...line, ...commands.map(({ argv }) => `arguments: ${JSON.stringify(redactor.redactWords(argv))}`)];
  });
  return [`folder: ${folder}`, ...lines, ...network].join('\n');
}

export interface GrantScope {
  /** What a yes for the session covers, for people and records. */
  readonly text: string;
  /** Calls with the same key are covered. */
  readonly key: string;
}

/** Never any command: the same arguments, and of a request the same method and origin. Other tools: calls of one weight. */
export function scopeOf(call: JudgedCall): GrantScope {
  const { subject, argsHash } = call;
  const { tool, profile, commands, urls, args } = subject;
  const weight = [tool, profile.kind, profile.side_effect_level, profile.effect, profile.risk];
  if (commands.length > 0) {
    return { text: 'this command again, with exactly these arguments', key: JSON.stringify([...weight, argsHash]) };
  }
  if (urls.length > 0) {
    const origins = urls.map(({ value }) => originOf(value));
    const method = typeof args['method'] === 'string' ? args['method'] : '';
    const text = `${tool} ${method} to ${origins.join(', ')}`.replaceAll(/ +/g, ' ');
    return { text, key: JSON.stringify([...weight, method, ...origins]) };
  }
  return {
    text: `every ${tool} of the same kind (${profile.side_effect_level}, ${profile.risk} risk)`,
    key: JSON.stringify(weight),
  };
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
