import type { Metadata } from 'next'
import { SetUpForm } from '#features/accounts/set-up-form.tsx'

export const metadata: Metadata = { title: 'Set up' }

export default function SetUpPage() {
  return <SetUpForm />
}
