/**
 * Files whose name says that they hold secrets or private data. Their bytes leave the machine only sealed. The
 * list errs towards sealing: a sealed file can still be restored on this machine.
 */
const SECRET_NAMES: readonly RegExp[] = [
  /^\.env/,
  /\.env$/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|ovpn)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)$/,
  /^\.(npmrc|netrc|pypirc|pgpass|htpasswd|git-credentials|dockercfg|s3cfg|boto|my\.cnf)$/,
  /^_netrc$/,
  /\.(tfstate|tfvars)(\.backup)?$/,
  /\.(sqlite|sqlite3|db|db3)(-wal|-shm|-journal)?$/,
  /^(secrets?|service[-_]?account.*)\.(json|ya?ml|toml|ini)$/,
  /^kubeconfig$/,
]
const SOURCE =
  /\.([cm]?[jt]sx?|py|rb|go|rs|java|kt|scala|swift|cs|php|c|h|cc|cpp|hpp|sh|md|html|css|scss|vue|svelte|sql)$/

export function isSecretName(name: string): boolean {
  const folded = name.toLowerCase()
  if (SECRET_NAMES.some((pattern) => pattern.test(folded))) return true
  return folded.includes('credentials') && !SOURCE.test(folded)
}
