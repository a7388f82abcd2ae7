/**
 * Programs whose purpose is to run others, to be typed into, or to reach the network.
 *
 * An entry is lifted by a pattern that spells out the whole command (`^bash scripts/check\.sh$`): then the operator has
 * judged this very command.
 */
import type { ProgramRule } from './program-rule.ts';

function refuse(programs: string, why: string, next?: string): ProgramRule {
  return { programs: programs.split(' '), whole: { needs: 'exact', why, ...(next === undefined ? {} : { next }) } };
}

export const REFUSED_PROGRAMS: readonly ProgramRule[] = [
  refuse(
    'sh bash dash zsh ksh mksh ash csh tcsh fish elvish nu rbash busybox toybox pwsh powershell cmd',
    'is a shell and runs whatever it is given',
    'give the commands themselves, joined by &&, ||, ; or |',
  ),
  refuse(
    'env xargs nohup nice ionice setsid stdbuf unbuffer script expect entr watch parallel flock chrt taskset setarch linux32 linux64 run-parts rlwrap watchexec nodemon xvfb-run dbus-run-session tini dumb-init',
    'starts another program',
    'give that program itself; variables go into env',
  ),
  refuse('timeout time', 'starts another program', 'give that program itself; a limit goes into timeout_ms'),
  refuse(
    'sudo su doas pkexec runuser setpriv capsh gosu su-exec sudoedit',
    'runs a program as someone else',
    'give the program itself',
  ),
  refuse(
    'chroot unshare nsenter bwrap firejail proot fakeroot systemd-run systemctl start-stop-daemon at batch crontab screen tmux docker podman nerdctl kubectl lxc machinectl wsl',
    'starts programs elsewhere, outside the sandbox',
  ),
  refuse('gdb lldb strace ltrace valgrind perf ld.so ld-linux-x86-64.so.2 ld-linux.so.2', 'starts another program'),
  refuse('ssh scp sftp rsync mosh telnet ftp nc ncat netcat socat openssl', 'talks to other machines'),
  refuse('curl wget aria2c http https xh httpie lynx w3m links', 'talks to other machines', 'use the curl tool'),
  refuse('git gh hub git-lfs', 'runs hooks, helpers and configured programs', 'use the git tools'),
  refuse(
    'vi vim view vimdiff ex nvim emacs nano pico ed joe micro less more most man info pg',
    'waits for a person and can start a shell',
    'use the file tools',
  ),
  refuse('awk gawk mawk nawk original-awk', 'runs programs from its script', 'use grep, or the file tools'),
  refuse('npx pnpx bunx uvx pipx corepack', 'fetches and runs a package', 'add the package and a script for it'),
  refuse('cd pushd popd', 'is part of a shell, not a program', 'give the folder in cwd'),
  refuse(
    'export set unset declare typeset local readonly',
    'is part of a shell, not a program',
    'give variables in env',
  ),
  refuse(
    'eval exec source command builtin alias unalias trap ulimit umask shopt enable hash type jobs fg bg disown wait',
    'is part of a shell, not a program',
    'give the program itself',
  ),
];
