/** What the registry of a workspace needs on this machine: toolchains, programs, hooks and remotes. */
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Registry } from '@tool-runtime/sdk';
import type { SandboxView } from '@tool-runtime/sdk/parts';

export interface ProjectPlace {
  readonly workspace: string;
  readonly state: string | undefined;
  readonly registry: Registry;
}

/** One line of the doctor. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly message: string;
}

export async function projectChecks({ workspace, state, registry }: ProjectPlace): Promise<readonly Finding[]> {
  const { defaultStateFolder, programOf, viewSandbox } = await import('@tool-runtime/sdk/parts');
  const root = realpathSync.native(workspace);
  const view = viewSandbox({ registry, workspace: root, state: state ?? defaultStateFolder(root, process.env) });
  const allowed = registry.shellAllow.map(({ source }) => programOf(source));
  const run = Object.values(registry.commands).flatMap((line) => line.split(/ (?:&&|\|\||[|;]) /).map(firstWord));
  const names = [...new Set([...allowed, ...run])].filter((name) => /^[A-Za-z0-9_]/.test(name));
  return [toolchains(view), programs(view, names), hooks(root), remotes(root, registry)];
}

function firstWord(line: string): string {
  return line.trim().split(' ')[0] ?? '';
}

function toolchains({ toolchains: found }: SandboxView): Finding {
  const check = 'chains';
  if (found.length === 0) return { check, state: 'ok', message: 'no toolchain found in the home folder' };
  const shown = found.filter(({ isShown }) => isShown).map(({ name, folders }) => `${name} (${folders.join(', ')})`);
  const hidden = found.filter(({ isShown }) => !isShown).map(({ name }) => name);
  const parts = [
    shown.length === 0 ? 'commands see no toolchain' : `commands see ${shown.join(', ')}`,
    ...(hidden.length === 0 ? [] : [`not ${hidden.join(', ')}; to show one, add it to sandbox.toolchains`]),
  ];
  return { check, state: 'ok', message: parts.join('; ') };
}

function programs({ locate }: SandboxView, names: readonly string[]): Finding {
  const check = 'programs';
  const absent = names.map((name) => ({ name, ...locate(name) })).filter(({ state }) => state !== 'inside');
  if (absent.length === 0) {
    const message = names.length === 0 ? 'the registry names none' : `found inside the sandbox: ${names.join(', ')}`;
    return { check, state: 'ok', message };
  }
  const texts = absent.map(({ name, path, next }) =>
    path === undefined ? `${name} is not installed` : `${name} is at ${path}, outside the sandbox: ${next}`,
  );
  return { check, state: 'warning', message: texts.join('; ') };
}

const HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'pre-rebase', 'pre-push', 'post-merge'];

function hooks(workspace: string): Finding {
  const check = 'hooks';
  const configured = gitSetting(workspace, ['core.hooksPath'])[0];
  const own = HOOKS.filter((name) => existsSync(join(workspace, '.git/hooks', name)));
  const places = [
    ...(configured === undefined ? [] : [`core.hooksPath ${configured}`]),
    ...(own.length === 0 ? [] : [`.git/hooks (${own.join(', ')})`]),
    ...['.husky', 'lefthook.yml', '.pre-commit-config.yaml'].filter((name) => existsSync(join(workspace, name))),
  ];
  if (places.length === 0) return { check, state: 'ok', message: 'the repository has none' };
  return { check, state: 'warning', message: `git tools run no hooks by default; found ${places.join(', ')}` };
}

function remotes(workspace: string, { git, allowedDomains }: Registry): Finding {
  const check = 'remotes';
  const urls = gitSetting(workspace, ['--get-regexp', '^remote\\..*\\.url$']).map((line) => line.split(' '));
  if (urls.length === 0) return { check, state: 'ok', message: 'the repository has none' };
  const closed = urls.flatMap(([key = '', url = '']) => {
    const host = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([A-Za-z0-9.-]+)[:/]/.exec(url)?.[1];
    const isOpen = host === undefined || allowedDomains.some((entry) => covers(entry, host));
    return isOpen ? [] : [`${key.split('.')[1]} at ${host}`];
  });
  const push = git.allow_push ? '' : '; pushing needs git.allow_push';
  if (closed.length === 0) return { check, state: 'ok', message: `${urls.length} can be reached${push}` };
  const message = `cannot be reached until network.allowed_domains lists them: ${closed.join(', ')}${push}`;
  return { check, state: 'warning', message };
}

function covers(entry: string, host: string): boolean {
  const [name = ''] = entry.split(':');
  return name === host || (name.startsWith('*.') && host.endsWith(name.slice(1)));
}

/** Lines that git prints for settings; none where there is no repository or no git. */
function gitSetting(workspace: string, words: readonly string[]): readonly string[] {
  const { status, stdout } = spawnSync('git', ['-C', workspace, 'config', ...words], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
}
