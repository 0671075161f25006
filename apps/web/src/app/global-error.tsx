'use client'

import './globals.css'

/** For faults of the frame around all pages; it replaces that frame, and so stands alone. */
export default function GlobalError({ reset }: { error: Error; reset: () => void }) {
  return (
    <html lang="en">
      <body>
        <main className="px-4 py-20 text-center">
          <h1 className="text-base font-semibold">Something went wrong in this page.</h1>
          <p className="mt-1 text-muted">Nothing on your machines was touched.</p>
          <button
            type="button"
            onClick={reset}
            className="mt-5 h-11 rounded-md border border-line-strong px-4 font-medium"
          >
            Try again
          </button>
        </main>
      </body>
    </html>
  )
}
