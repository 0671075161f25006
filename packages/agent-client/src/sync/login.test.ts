import { expect, it } from 'vitest'
import { isOpenToReaders, parseEnrollmentLink, parseServer } from './login.ts'

it.each([
  ['https://t.example.com/enroll#AB12-CD34', 'https://t.example.com/', 'AB12-CD34'],
  ['http://127.0.0.1:4600/enroll#x%2By', 'http://127.0.0.1:4600/', 'x+y'],
  ['https://t.example.com', 'https://t.example.com/', null],
  ['https://example.com/turnback/enroll/#C', 'https://example.com/turnback/', 'C'],
  ['https://t.example.com/?code=inquery', 'https://t.example.com/', null],
])('reads %s', (link, server, code) => {
  const parsed = parseEnrollmentLink(link)
  expect([parsed.server.href, parsed.code]).toEqual([server, code])
})

it.each([
  't.example.com',
  'ftp://t.example.com',
  'file:///etc/passwd',
  'https://user:secret@t.example.com',
  '',
])('refuses %s', (text) => expect(() => parseServer(text)).toThrow(/not the address/))

it('knows which ways can be read by others', () => {
  const open = (url: string) => isOpenToReaders(new URL(url))
  expect(['http://10.0.0.5:4600', 'http://t.example.com'].map(open)).toEqual([true, true])
  expect(
    ['https://t.example.com', 'http://localhost:1', 'http://127.0.0.1', 'http://[::1]:3'].map(open),
  ).toEqual([false, false, false, false])
})
