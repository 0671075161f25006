import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { routes } from '@turnback/core/api'
import { ApiError, callApi, isApiError, send } from '#lib/api.ts'

export const meQuery = () =>
  queryOptions({
    queryKey: [routes.getMe.path],
    queryFn: ({ signal }) => callApi(routes.getMe, {}, { signal }),
    staleTime: 60_000,
  })

export interface Credentials {
  readonly email: string
  readonly password: string
}

/** The sign-in routes are better-auth's own and speak its codes; a wrong pair is one thing to us. */
async function signIn({ email, password }: Credentials): Promise<void> {
  try {
    await send('POST', '/v1/auth/sign-in/email', { email, password })
  } catch (error) {
    if (isApiError(error) && (error.status === 400 || error.status === 401 || error.status === 403)) {
      throw new ApiError('SIGN_IN_FAILED', error.message, { status: error.status, cause: error })
    }
    throw error
  }
}

export const signInMutation = () => mutationOptions({ mutationFn: signIn })

export const signOutMutation = () =>
  mutationOptions({
    mutationFn: async () => {
      await send('POST', '/v1/auth/sign-out', {})
    },
  })

/** Uses up a one-time link. */
export const loginLinkMutation = () =>
  mutationOptions({
    mutationFn: (code: string) => callApi(routes.signInByLink, { body: { code } }),
  })

export interface FirstAccount extends Credentials {
  readonly code: string
  readonly name: string
}

/** Makes the first administrator and signs them in. */
export const setUpMutation = () =>
  mutationOptions({
    mutationFn: async (account: FirstAccount) => {
      await callApi(routes.setUp, { body: account })
      await signIn(account)
    },
  })
