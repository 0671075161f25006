import { GeistMono } from 'geist/font/mono'
import { GeistSans } from 'geist/font/sans'
import type { Metadata, Viewport } from 'next'
import { headers } from 'next/headers'
import type { ReactNode } from 'react'
import { Providers } from './providers.tsx'
import './globals.css'

export const metadata: Metadata = {
  title: { default: 'Turnback', template: '%s · Turnback' },
  description: 'What coding agents did to your working tree, turn by turn, and the way back.',
  applicationName: 'Turnback',
  appleWebApp: { capable: true, title: 'Turnback', statusBarStyle: 'default' },
  formatDetection: { telephone: false, email: false, address: false, date: false },
  robots: { index: false, follow: false },
}

export const viewport: Viewport = {
  width: 'device-width',
  initialScale: 1,
  viewportFit: 'cover',
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#fbfbfa' },
    { media: '(prefers-color-scheme: dark)', color: '#0e0e10' },
  ],
}

export default async function RootLayout({ children }: { children: ReactNode }) {
  // Reading the nonce makes each page dynamic, which a content policy without `unsafe-inline` needs anyway.
  const nonce = (await headers()).get('x-nonce') ?? ''
  return (
    <html lang="en" className={`${GeistSans.variable} ${GeistMono.variable}`} suppressHydrationWarning>
      <body>
        <Providers nonce={nonce}>
          <div id="app">{children}</div>
        </Providers>
      </body>
    </html>
  )
}
