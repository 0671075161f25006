'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearchParams } from 'next/navigation'
import { type FormEvent, useCallback, useEffect, useRef } from 'react'
import { describeError } from '#lib/errors.ts'
import { safeNext } from '#lib/paths.ts'
import { Button } from '#ui/button.tsx'
import { Field } from '#ui/field.tsx'
import { Note } from '#ui/note.tsx'
import { Spinner } from '#ui/spinner.tsx'
import { AccountCard } from './account-card.tsx'
import { loginLinkMutation, signInMutation } from './account-queries.ts'
import { useSecretOfFragment } from './fragment.ts'

export function LoginForm() {
  const token = useSecretOfFragment()
  const onSignedIn = useEnter()
  const link = useMutation({ ...loginLinkMutation(), onSuccess: onSignedIn })
  const tried = useRef(false)
  const { mutate } = link
  useEffect(() => {
    if (token === null || token === undefined || tried.current) return
    tried.current = true
    mutate(token)
  }, [token, mutate])

  const isEntering = (token !== null && token !== undefined && !link.isError) || link.isSuccess
  return (
    <AccountCard title={isEntering ? 'Signing you in' : 'Sign in'}>
      {isEntering ? (
        <p role="status" className="flex items-center gap-2 text-muted">
          <Spinner /> One moment…
        </p>
      ) : (
        <>
          {link.isError && (
            <div className="mb-4">
              <Note tone="error" title="This sign-in link is wrong, used or too old.">
                {describeError(link.error).code === 'SERVER_UNREACHABLE'
                  ? 'The service does not answer.'
                  : 'Sign in with e-mail and password instead.'}
              </Note>
            </div>
          )}
          <PasswordForm onSignedIn={onSignedIn} />
        </>
      )}
    </AccountCard>
  )
}

function PasswordForm({ onSignedIn }: { onSignedIn: () => void }) {
  const signIn = useMutation({ ...signInMutation(), onSuccess: onSignedIn })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    signIn.mutate({ email: String(form.get('email')).trim(), password: String(form.get('password')) })
  }
  return (
    <form method="post" onSubmit={submit} className="flex flex-col gap-4">
      {signIn.isError && (
        <Note tone="error" title={describeError(signIn.error).message}>
          {describeError(signIn.error).remedy}
        </Note>
      )}
      <Field label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
      <Field label="Password" name="password" type="password" autoComplete="current-password" required />
      <Button type="submit" tone="primary" size="large" isBusy={signIn.isPending || signIn.isSuccess}>
        Sign in
      </Button>
    </form>
  )
}

/** What another person may have loaded in this page is forgotten before the first own page is shown. */
function useEnter(): () => void {
  const router = useRouter()
  const queryClient = useQueryClient()
  const next = useSearchParams().get('next')
  return useCallback(() => {
    queryClient.clear()
    router.replace(safeNext(next))
  }, [queryClient, router, next])
}
