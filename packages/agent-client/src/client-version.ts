/** What this client calls itself: to the person with `--version`, and to the service. */
export const CLIENT_VERSION = '0.0.0'
