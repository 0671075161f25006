'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import type { FormEvent } from 'react'
import { describeError } from '#lib/errors.ts'
import { paths } from '#lib/paths.ts'
import { Button, buttonClass } from '#ui/button.tsx'
import { Field } from '#ui/field.tsx'
import { Note } from '#ui/note.tsx'
import { AccountCard } from './account-card.tsx'
import { setUpMutation } from './account-queries.ts'
import { useSecretOfFragment } from './fragment.ts'

export function SetUpForm() {
  const code = useSecretOfFragment()
  if (code === null) {
    return (
      <AccountCard title="Set-up link needed">
        <Note title="This page opens with the link that the first start of the service prints.">
          It looks like …/setup#code. If you have an account already, sign in.
        </Note>
        <Link href={paths.login()} className={`${buttonClass('plain')} mt-4 w-full`}>
          Sign in
        </Link>
      </AccountCard>
    )
  }
  return (
    <AccountCard
      title="Make the first account"
      lead="It is the administrator of this Turnback. The link works once."
    >
      <AccountForm code={code ?? ''} />
    </AccountCard>
  )
}

function AccountForm({ code }: { code: string }) {
  const router = useRouter()
  const queryClient = useQueryClient()
  const setUp = useMutation({
    ...setUpMutation(),
    onSuccess: () => {
      queryClient.clear()
      router.replace(paths.home())
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const field = (name: string) => String(form.get(name) ?? '')
    setUp.mutate({
      code,
      name: field('name').trim(),
      email: field('email').trim(),
      password: field('password'),
    })
  }
  return (
    <form method="post" onSubmit={submit} className="flex flex-col gap-4">
      {setUp.isError && (
        <Note tone="error" title={describeError(setUp.error).message}>
          {describeError(setUp.error).remedy}
        </Note>
      )}
      <Field label="Name" name="name" autoComplete="name" required maxLength={100} autoFocus />
      <Field label="E-mail" name="email" type="email" autoComplete="username" required maxLength={254} />
      <Field
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={10}
        maxLength={128}
        hint="At least 10 characters."
      />
      <Button
        type="submit"
        tone="primary"
        size="large"
        isBusy={setUp.isPending || setUp.isSuccess}
        disabled={code === ''}
      >
        Create account
      </Button>
    </form>
  )
}
