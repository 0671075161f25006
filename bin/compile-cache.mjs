// Loading the type stripper takes longer than starting Node (measured: 206 ms a start, with this 91 ms). The cache lies
// beside the code it is made of, never in a temporary folder, where another account could put its own code in it.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/turnback'))
