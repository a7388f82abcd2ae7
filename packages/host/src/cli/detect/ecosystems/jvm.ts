/**
 * Maven and Gradle. Lint and format only where the build file names the plugin that does them.
 *
 * Wrappers are scripts of the workspace, so they run through `sh`: the runtime starts no program by a path.
 */
import { commandSet } from '../command-set.ts';
import type { Ecosystem, EcosystemFacts, FolderView } from '../detected-project.ts';

const GRADLE_FILES = ['build.gradle.kts', 'build.gradle', 'settings.gradle.kts', 'settings.gradle'];
const TEST_GLOBS = ['**/src/test/**'];

export const jvm: Ecosystem = {
  name: 'jvm',
  detect(view) {
    const pom = view.read('pom.xml');
    if (pom !== undefined) return mavenFacts(view, pom);
    return GRADLE_FILES.some((file) => view.exists(file)) ? gradleFacts(view) : undefined;
  },
};

function mavenFacts(view: FolderView, pom: string): EcosystemFacts {
  const place = view.folder === '' ? '' : ` -f ${view.folder}/pom.xml`;
  const run = (goal: string) => `${programOf(view, 'mvnw', 'mvn')} -B -q${place} ${goal}`;
  return {
    languages: [pom.includes('kotlin-maven-plugin') ? 'kotlin' : 'java'],
    packageManager: 'maven',
    commands: commandSet({
      build: run('test-compile'),
      test: run('test'),
      lint: pom.includes('maven-checkstyle-plugin') ? run('checkstyle:check') : undefined,
      fmt: pom.includes('spotless-maven-plugin') ? run('spotless:check') : undefined,
    }),
    testGlobs: TEST_GLOBS,
  };
}

function gradleFacts(view: FolderView): EcosystemFacts {
  const text = GRADLE_FILES.map((file) => view.read(file) ?? '').join('\n');
  const place = view.folder === '' ? '' : ` -p ${view.folder}`;
  const run = (task: string) => `${programOf(view, 'gradlew', 'gradle')}${place} ${task}`;
  const isKotlin = /\bkotlin\s*\(|org\.jetbrains\.kotlin/.test(text) || view.exists('src/main/kotlin');
  return {
    languages: [isKotlin ? 'kotlin' : 'java'],
    packageManager: 'gradle',
    commands: commandSet({
      build: run('assemble'),
      test: run('test'),
      lint: gradleLint(text, run),
      fmt: gradleFormat(text, run),
    }),
    testGlobs: TEST_GLOBS,
  };
}

function gradleLint(text: string, run: (task: string) => string): string | undefined {
  if (/\bdetekt\b/.test(text)) return run('detekt');
  return /\bcheckstyle\b/.test(text) ? run('checkstyleMain') : undefined;
}

function gradleFormat(text: string, run: (task: string) => string): string | undefined {
  if (/\bspotless\b/.test(text)) return run('spotlessCheck');
  return /\bktlint\b/.test(text) ? run('ktlintCheck') : undefined;
}

function programOf(view: FolderView, wrapper: string, program: string): string {
  if (!view.exists(wrapper)) return program;
  return `sh ${[view.folder, wrapper].filter((part) => part !== '').join('/')}`;
}
