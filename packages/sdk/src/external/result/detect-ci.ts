/** Which CI system a run happens in, by the variables each sets. The first that fits in this order wins. */
import type { RunContext } from '../../contracts/external.ts';

export type RunEnvironment = Readonly<Record<string, string | undefined>>;

interface CiProvider {
  readonly id: string;
  readonly isHere: (env: RunEnvironment) => boolean;
  readonly repo?: (env: RunEnvironment) => string | undefined;
  readonly commit?: (env: RunEnvironment) => string | undefined;
  readonly branch?: (env: RunEnvironment) => string | undefined;
}

const PROVIDERS: readonly CiProvider[] = [
  {
    id: 'github_actions',
    isHere: (env) => env['GITHUB_ACTIONS'] === 'true',
    repo: (env) => env['GITHUB_REPOSITORY'],
    commit: (env) => env['GITHUB_SHA'],
    branch: (env) => env['GITHUB_REF']?.replace(/^refs\/heads\//, '').replace(/^refs\/tags\//, ''),
  },
  {
    id: 'gitlab_ci',
    isHere: (env) => env['GITLAB_CI'] === 'true',
    repo: (env) => env['CI_PROJECT_URL'],
    commit: (env) => env['CI_COMMIT_SHA'],
    branch: (env) => env['CI_COMMIT_REF_NAME'],
  },
  {
    id: 'circleci',
    isHere: (env) => env['CIRCLECI'] === 'true',
    repo: (env) => env['CIRCLE_REPOSITORY_URL'] || ownerAndProject(env),
    commit: (env) => env['CIRCLE_SHA1'],
    branch: (env) => env['CIRCLE_BRANCH'],
  },
  {
    id: 'buildkite',
    isHere: (env) => env['BUILDKITE'] === 'true',
    repo: (env) => env['BUILDKITE_REPO'],
    commit: (env) => env['BUILDKITE_COMMIT'],
    branch: (env) => env['BUILDKITE_BRANCH'],
  },
  {
    id: 'jenkins',
    isHere: (env) => Boolean(env['JENKINS_URL']),
    repo: (env) => env['GIT_URL'],
    commit: (env) => env['GIT_COMMIT'],
    branch: (env) => env['GIT_BRANCH'],
  },
  { id: 'generic', isHere: (env) => env['CI'] === 'true' },
];

/** Undefined outside CI. Blank values are there as undefined. */
export function detectCi(
  env: RunEnvironment,
): { readonly [Field in keyof RunContext]: RunContext[Field] | undefined } | undefined {
  const provider = PROVIDERS.find(({ isHere }) => isHere(env));
  if (provider === undefined) return undefined;
  return {
    ci: true,
    ci_provider: provider.id,
    repo: provider.repo?.(env),
    commit: provider.commit?.(env),
    branch: provider.branch?.(env),
  };
}

function ownerAndProject(env: RunEnvironment): string | undefined {
  const [owner, project] = [env['CIRCLE_PROJECT_USERNAME'], env['CIRCLE_PROJECT_REPONAME']];
  return owner && project ? `${owner}/${project}` : undefined;
}
