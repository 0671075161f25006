import type { NextConfig } from 'next'

const config: NextConfig = {
  // core is TypeScript source in this repository, not a built package.
  transpilePackages: ['@turnback/core'],
  poweredByHeader: false,
  reactStrictMode: true,
  devIndicators: false,
  // `pnpm typecheck` judges the types; a start from a fresh checkout need not wait for a second look.
  typescript: { ignoreBuildErrors: true },
}

export default config
