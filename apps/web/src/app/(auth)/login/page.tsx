import type { Metadata } from 'next'
import { Suspense } from 'react'
import { LoginForm } from '#features/accounts/login-form.tsx'

export const metadata: Metadata = { title: 'Sign in' }

export default function LoginPage() {
  return (
    <Suspense>
      <LoginForm />
    </Suspense>
  )
}
