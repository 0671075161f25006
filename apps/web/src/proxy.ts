import { type NextRequest, NextResponse } from 'next/server'

/** The content policy: scripts and styles of our own with this answer's nonce, and nothing else. */
function contentPolicy(nonce: string, isDevelopment: boolean): string {
  // React's error stacks need eval, and its hot reload inline styles, while developing only.
  const scripts = isDevelopment ? " 'unsafe-eval'" : ''
  const styles = isDevelopment ? "'unsafe-inline'" : `'nonce-${nonce}'`
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${scripts}`,
    `style-src 'self' ${styles}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

export function proxy(request: NextRequest): NextResponse {
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64')
  const policy = contentPolicy(nonce, process.env.NODE_ENV === 'development')
  const headers = new Headers(request.headers)
  headers.set('x-nonce', nonce)
  // Next reads the nonce for its own scripts out of this header.
  headers.set('content-security-policy', policy)
  const response = NextResponse.next({ request: { headers } })
  response.headers.set('content-security-policy', policy)
  response.headers.set('referrer-policy', 'same-origin')
  response.headers.set('x-content-type-options', 'nosniff')
  return response
}

export const config = {
  matcher: ['/((?!_next/static|_next/image|icon.svg|apple-icon|favicon.ico|manifest.webmanifest|icons/).*)'],
}
