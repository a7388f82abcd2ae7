/**
 * Every configuration key a repository may set, by what its value can do to the verbs we use.
 *
 * This is a list of what is allowed, because git gains keys with every version: a key that is missing here is refused. The
 * keys come from `git help --config`; each stands under the class its documented value belongs to. `*` stands for one name
 * or a subsection. Keys that `fixed-options.ts` overrides on every start have no effect and are not listed again here.
 */

/** One line without control characters: no value can add a line to a file or a protocol that git writes. */
const ONE_LINE = /^[^\x00-\x1f\x7f]*$/;
const ANY = /^/;

export interface ConfigClass {
  /** What a value of this class can do. */
  readonly does: string;
  /** Values that are harmless; any other value of the key is refused. */
  readonly value: RegExp;
  readonly keys: readonly string[];
}

export const HARMLESS_CONFIG: readonly ConfigClass[] = [
  {
    does: 'switches something on or off, or is a number, size, date or one word of a closed list',
    value: ONE_LINE,
    keys: [
      ...words('add', 'ignoreerrors interactive.usebuiltin'),
      ...words(
        'core',
        `repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf
         abbrev sparsecheckout sparsecheckoutcone untrackedcache preloadindex compression loosecompression longpaths
         protecthfs protectntfs checkstat trustctime ignorestat sharedrepository whitespace deltabasecachelimit
         packedgitlimit packedgitwindowsize warnambiguousrefs fsync fsyncmethod fsyncobjectfiles multipackindex commitgraph
         splitindex hidedotfiles checkroundtripencoding usereplacerefs restrictinheritedhandles unsetenvvars maxtreedepth
         createobject filesreflocktimeout packedrefstimeout fsmonitorhookversion`,
      ),
      ...words('extensions', 'objectformat worktreeconfig noop refstorage preciousobjects relativeworktrees'),
      ...words('user', 'useconfigonly'),
      ...words('commit', 'cleanup status verbose'),
      ...words('commitgraph', 'generationversion maxnewfilters readchangedpaths'),
      ...words('tag', 'sort forcesignannotated'),
      ...words('push', 'default autosetupremote followtags useforceifincludes usebitmaps'),
      ...words('pull', 'rebase ff'),
      ...words('fetch', 'prune prunetags fsckobjects unpacklimit parallel output showforcedupdates writecommitgraph'),
      ...words('fetch', 'negotiationalgorithm all'),
      ...words('fastimport', 'unpacklimit'),
      ...words(
        'receive',
        `advertiseatomic advertisepushoptions certnonceslop denycurrentbranch denydeletecurrent denynonfastforwards
         denydeletes fsckobjects keepalive maxinputsize shallowupdate unpacklimit updateserverinfo`,
      ),
      ...words('transfer', 'fsckobjects unpacklimit advertisesid credentialsinurl'),
      ...words(
        'uploadpack',
        'allowfilter allowanysha1inwant allowreachablesha1inwant allowtipsha1inwant allowrefinwant keepalive',
      ),
      ...words('uploadpackfilter', 'allow tree.maxdepth'),
      'uploadpackfilter.*.allow',
      ...words('uploadarchive', 'allowunreachable'),
      ...words('lsrefs', 'unborn'),
      ...words(
        'merge',
        'conflictstyle ff log renames renamelimit directoryrenames renormalize stat verbosity branchdesc',
      ),
      ...words('merge', 'defaulttoupstream autostash'),
      ...words('rebase', 'autosquash stat forkpoint maxlabellength'),
      ...words('rerere', 'autoupdate'),
      ...words('revert', 'reference'),
      ...words('diff', 'algorithm renames renamelimit context interhunkcontext wserrorhighlight colormoved'),
      ...words('diff', 'colormovedws indentheuristic dirstat statgraphwidth autorefreshindex'),
      'diff.*.binary',
      'diff.*.algorithm',
      'diff.*.cachetextconv',
      ...words('status', 'branch short aheadbehind displaycommentprefix renames renamelimit showstash relativepaths'),
      ...words('log', 'abbrevcommit date decorate follow graphcolors mailmap initialdecorationset'),
      ...words('gc', 'autodetach autopacklimit aggressivedepth aggressivewindow bigpackthreshold indexversion'),
      ...words('gc', 'logexpiry packrefs pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire'),
      ...words('gc', 'writecommitgraph cruftpacks rerereresolved rerereunresolved'),
      'gc.*.reflogexpire',
      'gc.*.reflogexpireunreachable',
      ...words('pack', 'window depth compression threads packsizelimit writebitmaps writebitmaphashcache'),
      ...words('pack', 'deltacachesize deltacachelimit windowmemory indexversion usebitmaps usesparse allowpackreuse'),
      ...words('pack', 'writebitmaplookuptable writereverseindex'),
      ...words('repack', 'usedeltabaseoffset usedeltaislands writebitmaps packkeptobjects updateserverinfo'),
      ...words('repack', 'cruftdepth cruftthreads cruftwindow cruftwindowmemory'),
      ...words('index', 'version threads sparse recordendofindexentries recordoffsettable skiphash'),
      ...words('feature', 'manyfiles experimental'),
      ...words('sparse', 'expectfilesoutsideofpatterns'),
      ...words('splitindex', 'maxpercentchange sharedindexexpire'),
      ...words('protocol', 'version'),
      ...words('apply', 'whitespace ignorewhitespace'),
      ...words('am', 'keepcr threeway messageid'),
      ...words('blame', 'date coloring showemail showroot blankboundary markignoredlines markunblamablelines'),
      ...words('checkout', 'guess workers thresholdforparallelism'),
      ...words('stash', 'showpatch showstat showincludeuntracked'),
      ...words('worktree', 'guessremote userelativepaths'),
      ...words('notes', 'mergestrategy rewritemode'),
      'notes.*.mergestrategy',
      'notes.rewrite.*',
      ...words('gpg', 'mintrustlevel'),
      ...words('http', 'postbuffer lowspeedlimit lowspeedtime version maxrequests'),
      ...words('branch', 'autosetupmerge autosetuprebase sort'),
      'branch.*.rebase',
      'remote.*.prune',
      'remote.*.prunetags',
      'remote.*.tagopt',
      'remote.*.mirror',
      'remote.*.skipdefaultupdate',
      'remote.*.skipfetchall',
      'remote.*.followremotehead',
      ...words('submodule', 'active propagatebranches fetchjobs alternateerrorstrategy alternatelocation'),
      'submodule.*.active',
      'submodule.*.ignore',
      'submodule.*.fetchrecursesubmodules',
      'advice.*',
      'color.*',
      ...words('lfs', 'repositoryformatversion'),
      'lfs.*.locksverify',
      ...words('trailer', 'where ifexists ifmissing'),
      'trailer.*.where',
      'trailer.*.ifexists',
      'trailer.*.ifmissing',
    ],
  },
  {
    does: 'is text that is shown, stored in a commit or compared, and never read as an instruction',
    value: ANY,
    keys: [
      ...words('user', 'name email signingkey'),
      ...words('author', 'name email'),
      ...words('committer', 'name email'),
      ...words('receive', 'certnonceseed'),
      'branch.*.description',
      'branch.*.vscode-merge-base',
      'branch.*.gh-merge-base',
      'branch.*.github-pr-owner-number',
      'branch.*.github-pr-base-branch',
      'remote.*.gh-resolved',
      'merge.*.name',
      'trailer.*.key',
      'trailer.separators',
      'lfs.*.access',
    ],
  },
  {
    does: 'names a reference, a branch, a remote or a pattern of them',
    value: ONE_LINE,
    keys: [
      ...words('core', 'notesref alternaterefsprefixes'),
      ...words('extensions', 'partialclone'),
      ...words('init', 'defaultbranch'),
      ...words('checkout', 'defaultremote'),
      ...words('remote', 'pushdefault'),
      ...words('transfer', 'hiderefs'),
      ...words('receive', 'hiderefs'),
      ...words('uploadpack', 'hiderefs'),
      ...words('log', 'excludedecoration'),
      ...words('notes', 'displayref rewriteref'),
      ...words('mailmap', 'blob'),
      ...words('merge', 'suppressdest'),
      ...words('pack', 'island islandcore preferbitmaptips'),
      ...words('versionsort', 'suffix'),
      'branch.*.remote',
      'branch.*.merge',
      'branch.*.pushremote',
      'remote.*.fetch',
      'remote.*.push',
      'remote.*.promisor',
      'remote.*.partialclonefilter',
      'remotes.*',
      'submodule.*.branch',
      'submodule.*.path',
    ],
  },
  {
    does: 'is a regular expression for the contents of files',
    value: ANY,
    keys: ['diff.wordregex', 'diff.*.xfuncname', 'diff.*.funcname', 'diff.*.wordregex'],
  },
  {
    does: 'is an address; a remote is judged by name before it is contacted, a submodule is never contacted',
    value: ONE_LINE,
    keys: ['remote.*.url', 'remote.*.pushurl', 'submodule.*.url'],
  },
  {
    does: 'names a file of ignore patterns; git shows none of its content',
    value: ONE_LINE,
    keys: ['core.excludesfile'],
  },
  {
    does: 'names the options of a merge into this branch; git_merge passes its own instead',
    value: ONE_LINE,
    keys: ['branch.*.mergeoptions'],
  },
  {
    does: 'is read only by programs we never start',
    value: ANY,
    keys: [
      'alias.*',
      'difftool.*',
      'mergetool.*',
      'merge.tool',
      'merge.guitool',
      'diff.tool',
      'diff.guitool',
      'gui.*',
      'guitool.*',
      'gitk.*',
      'gitweb.*',
      'instaweb.*',
      'browser.*',
      'man.*',
      'help.*',
      'web.*',
      'sendemail.*',
      'imap.*',
      'bisect.*',
      'bundle.*',
      'clean.*',
      'clone.*',
      'completion.*',
      'credentialcache.*',
      'credentialstore.*',
      'format.*',
      'pretty.*',
      'fsck.*',
      'fsmonitor.*',
      'gpg.ssh.allowedsignersfile',
      'gpg.ssh.revocationfile',
      'grep.*',
      'init.templatedir',
      'interactive.singlekey',
      'mailinfo.*',
      'maintenance.*',
      'safe.*',
      'showbranch.*',
      'ssh.variant',
      'tar.umask',
      'column.*',
      'svn.*',
      'svn-remote.*',
      'gitcvs.*',
      'cvsexportcommit.*',
      'gitflow.*',
      'gitg.*',
      'hub.*',
      'stgit.*',
      'magit.*',
      'git-p4.*',
      'forge.*',
      'codespaces.*',
      'vscode.*',
      'jj.*',
      'oh-my-zsh.*',
    ],
  },
  // Keys whose harm depends on the value.
  { does: 'starts a monitor', value: /^(?:false|no|off|0|)$/i, keys: ['core.fsmonitor'] },
  { does: 'runs programs', value: /^(?:|\/dev\/null|\.git\/hooks\/?)$/, keys: ['core.hookspath'] },
  { does: 'runs a program', value: /^$/, keys: ['core.pager', 'core.askpass', 'core.gitproxy', 'credential.helper'] },
  { does: 'runs a program', value: /^(?:true|false|yes|no|on|off|1|0|)$/i, keys: ['pager.*'] },
  { does: 'runs a command', value: /^(?:checkout|rebase|merge|none)$/, keys: ['submodule.*.update'] },
  { does: 'names a merge strategy, which can be a program', value: /^(?:ort|recursive)$/, keys: ['pull.twohead'] },
  { does: 'allows transports', value: /^(?:never|user)$/, keys: ['protocol.allow', 'protocol.*.allow'] },
  { does: 'sets the level of a check', value: /^(?:error|warn|ignore)$/i, keys: ['fetch.fsck.*', 'receive.fsck.*'] },
];

/** Aliases of programs that git looks up by a name from a repository: a merge strategy, a transport, a credential helper. */
export const HARMFUL_CONFIG = /^alias\.(?:merge|remote|credential)-/s;

function words(section: string, names: string): readonly string[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => `${section}.${name}`);
}
