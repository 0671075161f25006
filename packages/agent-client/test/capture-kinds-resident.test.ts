// Everything that a client sees which looks at the whole tree, one that hears of changes must see too.
process.env.TURNBACK_TEST_RESIDENT = '1'
await import('./capture-kinds.test.ts')
