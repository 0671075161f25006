import { describe, expect, it } from 'vitest'
import type { TurnId } from '#ids.ts'
import { findNextRedo, findNextUndo, newlyMarked, undoneMarks } from './marks.ts'
import type { RestoreFacts, TurnFacts } from './turn-facts.ts'

const turn = (
  number: number,
  kind: TurnFacts['kind'] = 'agent',
  session = 'A',
  hasChanges = true,
): TurnFacts => ({
  turn: `t_${number}`,
  number,
  kind,
  session,
  beginScan: number,
  hasChanges,
  paths: null,
})

const restore = (number: number, of: TurnId[], more: Partial<RestoreFacts> = {}): RestoreFacts => ({
  turn: `t_${number}`,
  number,
  target: of[0] ?? 't_1',
  takenBack: null,
  of,
  isWhole: true,
  status: 'done',
  ...more,
})

describe('undoneMarks', () => {
  it('yes by a whole restore, also one with nothing to do; partly by paths or when part of it failed', () => {
    const marks = undoneMarks([
      restore(5, ['t_1']),
      restore(6, ['t_2'], { isWhole: false }),
      restore(7, ['t_3'], { status: 'partly-done' }),
      restore(8, ['t_4'], { status: 'nothing-to-do' }),
      restore(9, ['t_5'], { status: 'failed' }),
    ])
    expect(Object.fromEntries(marks)).toEqual({ t_1: 'yes', t_2: 'partly', t_3: 'partly', t_4: 'yes' })
  })

  it('a restore of named paths that moved nothing gives no mark, and takes none away', () => {
    const nothing = restore(6, ['t_1', 't_2'], { isWhole: false, status: 'nothing-to-do' })
    expect(undoneMarks([nothing]).size).toBe(0)
    expect(undoneMarks([restore(5, ['t_1']), nothing]).get('t_1')).toBe('yes')
    expect(newlyMarked(['t_1'], new Map(), false, 'nothing-to-do')).toEqual([])
    expect(newlyMarked(['t_1'], new Map(), true, 'nothing-to-do'), 'a whole one does').toEqual(['t_1'])
    // It stays a step all the same.
    expect(findNextRedo([turn(1), turn(6, 'restore')], [nothing])).toBe('t_6')
  })

  it('taking back gives the earlier mark again; taking that back gives the later one', () => {
    const first = restore(5, ['t_1'], { isWhole: false })
    const second = restore(6, ['t_1'])
    const back = restore(7, [], { target: 't_6', takenBack: 't_6' })
    const again = restore(8, [], { target: 't_7', takenBack: 't_7' })
    const markOf = (...restores: RestoreFacts[]) => undoneMarks(restores).get('t_1')
    expect(markOf(first, second)).toBe('yes')
    expect(markOf(first, second, back)).toBe('partly')
    expect(markOf(first, second, back, again)).toBe('yes')
    expect(markOf(second, { ...back, status: 'failed' }), 'a taking back that failed is none').toBe('yes')
    expect(markOf(second, { ...back, isWhole: false }), 'of some paths only').toBe('yes')
  })

  it('only raised marks are listed', () => {
    const marks = undoneMarks([restore(5, ['t_1']), restore(6, ['t_2'], { isWhole: false })])
    expect(newlyMarked(['t_1', 't_2', 't_3'], marks, true, 'done')).toEqual(['t_2', 't_3'])
    expect(newlyMarked(['t_1', 't_2', 't_3'], marks, false, 'done')).toEqual(['t_3'])
    expect(newlyMarked(['t_3'], marks, true, 'refused')).toEqual([])
  })
})

describe('undo and redo', () => {
  const turns = [
    turn(1),
    turn(2, 'agent', 'B'),
    turn(3, 'outside'),
    turn(4, 'checkpoint'),
    turn(5, 'restore'),
  ]

  it('undo takes the latest work not yet undone, of one session if asked; partly is not undone', () => {
    expect(findNextUndo(turns, [])).toBe('t_2')
    expect(findNextUndo(turns, [], 'A')).toBe('t_1')
    expect(findNextUndo(turns, [restore(5, ['t_2'])])).toBe('t_1')
    expect(findNextUndo(turns, [restore(5, ['t_2'], { isWhole: false })])).toBe('t_2')
    expect(findNextUndo(turns, [restore(5, ['t_1', 't_2'])])).toBeNull()
  })

  it('redo takes the latest restore in force, whatever it moved, but no taking back', () => {
    const undo = restore(5, ['t_2'], { status: 'nothing-to-do' })
    const back = restore(6, [], { target: 't_5', takenBack: 't_5' })
    expect(findNextRedo(turns, [undo])).toBe('t_5')
    expect(findNextRedo(turns, [undo, back])).toBeNull()
    expect(findNextRedo(turns, [{ ...undo, status: 'failed' }])).toBeNull()
  })

  it('work that changed something empties the redo line; work that changed nothing does not', () => {
    const undo = restore(5, ['t_2'])
    expect(findNextRedo([...turns, turn(6)], [undo])).toBeNull()
    expect(findNextRedo([...turns, turn(6, 'agent', 'A', false)], [undo])).toBe('t_5')
    expect(findNextRedo([...turns, turn(6, 'outside')], [undo])).toBe('t_5')
  })
})
