/** tool-runtime completion: a script for the shell that completes commands, options, tools and their arguments. */
import type { Command, Option } from 'commander';
import { printLine } from '../../terminal/terminal.ts';
import { defineCommand } from '../command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print a completion script for bash, zsh or fish',
  configure(command, done) {
    command
      .addArgument(
        command.createArgument('<shell>', 'for bash: source <(tool-runtime completion bash)').choices(SHELLS),
      )
      .action(async (shell: Shell) => {
        const places = await findPlaces();
        printLine(shell === 'fish' ? fishScript(places) : `${shell === 'zsh' ? ZSH : ''}${bashScript(places)}`);
        done(0);
      });
  },
});

/** What may follow where: `audit list` → its options; `call file_read` → the arguments of the tool. */
type Places = ReadonlyMap<string, readonly string[]>;

async function findPlaces(): Promise<Places> {
  const { describedProgram } = await import('../main.ts');
  const places = new Map(placesOf(await describedProgram(), ''));
  const [{ argumentNames, builtInTools }, { createAst }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('@tool-runtime/ast'),
  ]);
  const tools = [...builtInTools(), ...createAst().tools];
  const options = places.get('call') ?? [];
  places.set('call', [...tools.map(({ name }) => name), ...options]);
  const names = tools.map(({ name }) => name);
  places.set('explain', names);
  for (const tool of tools) places.set(`call ${tool.name}`, [...argumentNames(tool).map(toFlag), ...options]);
  const explainOptions = places.get('policy explain') ?? [];
  places.set('policy explain', [...names, ...explainOptions]);
  for (const tool of tools) {
    const pairs = argumentNames(tool).map((argument) => `${argument}=`);
    places.set(`policy explain ${tool.name}`, [...pairs, ...explainOptions]);
  }
  return places;
}

function toFlag(argument: string): string {
  return `--${argument.replaceAll('_', '-')}`;
}

function placesOf(command: Command, path: string): readonly (readonly [string, readonly string[]])[] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((sub) => sub.name() !== 'help');
  const flags = command.options
    .filter((option: Option) => !option.hidden)
    .map(({ long, short }) => long ?? short ?? '');
  const below = visible.flatMap((sub) => placesOf(sub, `${path} ${sub.name()}`.trim()));
  return [[path, [...visible.map((sub) => sub.name()), ...flags]], ...below];
}

/** The longest beginning of the line that is a place decides. */
function bashScript(places: Places): string {
  const cases = [...places].map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`);
  const known = [...places.keys()].filter((path) => path !== '').map((path) => `'${path}'`);
  return `_tool_runtime() {
  local current=\${COMP_WORDS[COMP_CWORD]} place='' words='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${place:+$place }\${COMP_WORDS[at]}" in
    ${known.join('|')}) place="\${place:+$place }\${COMP_WORDS[at]}" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ \${#COMPREPLY[@]} -eq 0 && $current != -* ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _tool_runtime tool-runtime`;
}

const ZSH = 'autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n';

function fishScript(places: Places): string {
  return [...places]
    .flatMap(([path, words]) => {
      const seen = path === '' ? [] : path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
      const condition = seen.length === 0 ? '__fish_use_subcommand' : seen.join('; and ');
      return words.map((word) =>
        word.startsWith('--')
          ? `complete -c tool-runtime -n '${condition}' -l ${word.slice(2)}`
          : `complete -c tool-runtime -n '${condition}' -a ${word}`,
      );
    })
    .join('\n');
}
