/** Short options whose value is a secret, by program. Long ones are recognised by their name. */

/** What the value is: a secret, `user:password`, a header, a cookie, or `pass:secret` as openssl writes it. */
export type ValueKind = 'secret' | 'pair' | 'header' | 'pass';

export interface ProgramOptions {
  /** The value is the next word, or the rest of this one. */
  readonly options?: Readonly<Record<string, ValueKind>>;
  /** The value is the rest of this word; alone the option asks for it. */
  readonly attached?: readonly string[];
}

const PASSWORD_P: ProgramOptions = { options: { '-p': 'secret' } };
const CURL: ProgramOptions = {
  options: { '-u': 'pair', '-U': 'pair', '-H': 'header', '-b': 'secret', '--user': 'pair', '--proxy-user': 'pair' },
};
const OPENSSL: ProgramOptions = {
  options: { '-passin': 'pass', '-passout': 'pass', '-pass': 'pass', '-k': 'secret', '-K': 'secret' },
};
const HTTPIE: ProgramOptions = { options: { '-a': 'pair' } };
const MYSQL: ProgramOptions = { attached: ['-p'] };
const ZIP: ProgramOptions = { options: { '-P': 'secret' } };
const PACKER: ProgramOptions = { attached: ['-p'] };
const LDAP: ProgramOptions = { options: { '-w': 'secret' } };
const MOSQUITTO: ProgramOptions = { options: { '-P': 'secret' } };

export const PROGRAM_OPTIONS: ReadonlyMap<string, ProgramOptions> = new Map(
  Object.entries({
    curl: CURL,
    wget: { options: { '--user': 'secret', '--header': 'header' } },
    http: HTTPIE,
    https: HTTPIE,
    xh: HTTPIE,
    sshpass: PASSWORD_P,
    docker: PASSWORD_P,
    podman: PASSWORD_P,
    buildah: PASSWORD_P,
    skopeo: PASSWORD_P,
    nerdctl: PASSWORD_P,
    oras: PASSWORD_P,
    crane: PASSWORD_P,
    az: PASSWORD_P,
    twine: PASSWORD_P,
    oc: PASSWORD_P,
    cf: PASSWORD_P,
    useradd: PASSWORD_P,
    usermod: PASSWORD_P,
    mysql: MYSQL,
    mysqladmin: MYSQL,
    mysqldump: MYSQL,
    mariadb: MYSQL,
    'mariadb-dump': MYSQL,
    mongo: PASSWORD_P,
    mongosh: PASSWORD_P,
    mongodump: PASSWORD_P,
    'redis-cli': { options: { '-a': 'secret' } },
    sqlcmd: { options: { '-P': 'secret' } },
    smbclient: { options: { '-U': 'pair' } },
    lftp: { options: { '-u': 'pair' } },
    openssl: OPENSSL,
    'ssh-keygen': { options: { '-N': 'secret', '-P': 'secret' } },
    zip: ZIP,
    unzip: ZIP,
    '7z': PACKER,
    '7za': PACKER,
    rar: PACKER,
    unrar: PACKER,
    ldapsearch: LDAP,
    ldapadd: LDAP,
    ldapmodify: LDAP,
    mosquitto_pub: MOSQUITTO,
    mosquitto_sub: MOSQUITTO,
  } satisfies Record<string, ProgramOptions>),
);
