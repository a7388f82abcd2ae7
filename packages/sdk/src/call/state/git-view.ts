/** The git capability cut down to what a call may do with it. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { policyDenial } from '../../contracts/failures.ts';
import type { GitFiles, GitRepository, GitRun, OpenGit } from '../../contracts/git.ts';
import type { Grant } from './change-log.ts';

/** Reports what the session has not been told yet about its repository. */
export function reporting(git: OpenGit, warn: (entry: ErrorEntry) => void): GitRepository {
  return {
    ...git,
    async run(request) {
      try {
        return await git.run(request);
      } finally {
        for (const notice of git.takeNotices()) warn(notice);
      }
    },
  };
}

/** Every run ends with the signal, unless it brings one of its own. */
export function endingWith(git: GitRepository, signal: () => AbortSignal): GitRepository {
  return {
    run: (request) => git.run({ signal: signal(), ...request }),
    config: () => git.config(signal()),
    identity: () => git.identity(signal()),
    operatorConfig: () => git.operatorConfig(),
    remote: (name, purpose) => git.remote(name, purpose, signal()),
    files: git.files,
    requireChangeable: (paths) => git.requireChangeable(paths),
  };
}

/** Changes nothing any more once the grant is revoked. */
export function granted(git: GitRepository, grant: Grant): GitRepository {
  const { files } = git;
  return {
    ...git,
    run: (request) => (request.access === 'write' ? grant.use(() => git.run(request)) : git.run(request)),
    files: {
      read: (name) => files.read(name),
      list: (folder) => files.list(folder),
      write: (name, bytes, how) => grant.use(() => files.write(name, bytes, how)),
      replace: (name, bytes) => grant.use(() => files.replace(name, bytes)),
      remove: (name) => grant.use(() => files.remove(name)),
    },
  };
}

/** For read-only calls and rules: whatever they ask, git sees everything read-only and no remote. */
export function lookOnly(git: GitRepository): GitRepository {
  const refuse = (): Promise<never> => Promise.reject(notAllowed('change the repository', 'workspace_write'));
  const files: GitFiles = {
    read: (name) => git.files.read(name),
    list: (folder) => git.files.list(folder),
    write: refuse,
    replace: refuse,
    remove: refuse,
  };
  return {
    ...withoutRemotes(git),
    run: (request) => (request.access === 'read' ? offline(git, request) : refuse()),
    files,
  };
}

/** For calls below the level `network`. */
export function withoutRemotes(git: GitRepository): GitRepository {
  return {
    run: (request) => offline(git, request),
    config: (signal) => git.config(signal),
    identity: (signal) => git.identity(signal),
    operatorConfig: () => git.operatorConfig(),
    remote: () => Promise.reject(notAllowed('talk to remotes', 'network')),
    files: git.files,
    requireChangeable: (paths) => git.requireChangeable(paths),
  };
}

function offline(git: GitRepository, request: GitRun): ReturnType<GitRepository['run']> {
  return request.remote === undefined ? git.run(request) : Promise.reject(notAllowed('talk to remotes', 'network'));
}

function notAllowed(what: string, level: string) {
  return policyDenial(`This call may not ${what}`, {
    details: { gate: 'git', next: `declare side_effect_level ${level} in the annotations of the tool` },
  });
}
