/** Toys whose commands get out of the sandbox, outlive their call, or tell secrets. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { type CommandEnd, Toy } from '../parts.ts';

/** A toy that runs some commands without the sandbox. */
function runsOutside(wordsOutside: (words: readonly string[]) => readonly string[] | undefined): typeof Toy {
  return class extends Toy {
    override async run(command: string, cancelled: Promise<void>): Promise<CommandEnd> {
      const words = wordsOutside(this.wordsOf(command));
      return words === undefined ? await super.run(command, cancelled) : await this.execute(words, cancelled);
    }
  };
}

/** A toy whose sandbox has no process namespace for some commands. */
class SharedProcesses extends Toy {
  isShared(_command: string): boolean {
    return false;
  }

  override async run(command: string, cancelled: Promise<void>): Promise<CommandEnd> {
    if (!this.isShared(command)) return await super.run(command, cancelled);
    const sandbox = this.sandbox().filter((word) => word !== '--unshare-pid' && word !== '--die-with-parent');
    const at = sandbox.indexOf('--proc');
    sandbox.splice(at, 2, '--ro-bind', '/proc', '/proc');
    return await this.execute([...sandbox, ...this.wordsOf(command)], cancelled);
  }
}

export const COMMAND_FAULTS = {
  'commands.outside': runsOutside((words) => (/^(?:cat|cp|tee)$/.test(words[0] ?? '') ? words : undefined)),
  'commands.redirection': class extends Toy {
    override async run(command: string, cancelled: Promise<void>): Promise<CommandEnd> {
      const [, left = command, file] = /^(.*?)\s>+\|?\s*(\S+)$/.exec(command) ?? [];
      const end = await super.run(left, cancelled);
      if (file !== undefined) appendFileSync(file, end.output);
      return end;
    }
  },
  'commands.substitution': class extends Toy {
    override async run(command: string, cancelled: Promise<void>): Promise<CommandEnd> {
      const expanded = command.replaceAll(/\$\(([^)]*)\)/g, (_, inner: string) =>
        spawnSync('sh', ['-c', inner], { encoding: 'utf8', env: this.environment() }).stdout.trim(),
      );
      return await super.run(expanded, cancelled);
    }
  },
  'commands.chaining': runsOutside((words) => {
    const at = words.indexOf(';');
    return at < 0 ? undefined : words.slice(at + 1);
  }),
  'commands.wrapper': runsOutside((words) => (words[0] === 'env' && words.length > 2 ? words.slice(2) : undefined)),
  'commands.interpreter': runsOutside((words) => (words[0] === './script.sh' ? words : undefined)),
  'commands.background': class extends SharedProcesses {
    override isShared(command: string): boolean {
      return command.includes(' & ');
    }
  },
  'cancellation.process': class extends Toy {
    override cancel(): void {}
  },
  'cancellation.tree': class extends SharedProcesses {
    override isShared(command: string): boolean {
      return command.includes('wait');
    }
    override cancel(child: ChildProcess): void {
      child.kill('SIGKILL');
    }
  },
  'cancellation.disconnect': class extends Toy {
    override async run(command: string, cancelled: Promise<void>): Promise<CommandEnd> {
      if (!command.startsWith('sleep')) return await super.run(command, cancelled);
      const sandbox = this.sandbox().filter((word) => word !== '--die-with-parent');
      return await this.execute([...sandbox, ...this.wordsOf(command)], cancelled);
    }
    override shutDown(): void {
      process.exit(0);
    }
  },
  'secrets.environment': class extends Toy {
    override sandbox(): string[] {
      return super.sandbox().filter((word) => word !== '--clearenv');
    }
    override environment(): NodeJS.ProcessEnv {
      return process.env;
    }
  },
  'secrets.proc': runsOutside((words) =>
    words[0] === 'cat' && words[1]?.startsWith('/proc/') === true ? words : undefined,
  ),
  'secrets.errors': class extends Toy {
    override describeError(cause: unknown, tool: string): string {
      const text = super.describeError(cause, tool);
      return text === 'There is no such tool' ? `${text}: ${JSON.stringify(process.env)}` : text;
    }
  },
} satisfies Record<string, typeof Toy>;
