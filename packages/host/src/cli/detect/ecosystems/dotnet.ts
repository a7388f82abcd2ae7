/** .NET: a solution or a project file in the folder. */
import type { Ecosystem } from '../detected-project.ts';

export const dotnet: Ecosystem = {
  name: 'dotnet',
  detect(view) {
    const files = view.list().filter((name) => /\.(?:slnx?|[cf]sproj|vbproj)$/.test(name));
    if (files.length === 0) return undefined;
    const place = view.folder === '' ? '' : ` ${view.folder}`;
    return {
      languages: [files.some((name) => name.endsWith('.fsproj')) ? 'fsharp' : 'csharp'],
      packageManager: 'dotnet',
      commands: {
        build: `dotnet build${place} --nologo`,
        test: `dotnet test${place} --nologo`,
        fmt: `dotnet format${place} --verify-no-changes`,
      },
      testGlobs: ['**/*.Tests/**', '**/*Tests.cs', '**/*Test.cs'],
    };
  },
};
