/** Full when there is a connection, hollow when there is none: told apart without colour too. */
export function OnlineDot({ isOnline }: { isOnline: boolean }) {
  return (
    <span
      role="img"
      aria-label={isOnline ? 'online' : 'offline'}
      className={`inline-block size-2 shrink-0 rounded-full ${isOnline ? 'bg-add' : 'border-[1.5px] border-faint'}`}
    />
  )
}
