/** A process that is told apart from another one with the same number, before and after a restart of the machine. */
export interface ProcessName {
  readonly pid: number
  /** What the system says of its start, only compared; '' where it says nothing. */
  readonly started: string
  readonly boot: string
}

/** Other processes of this machine. */
export interface Processes {
  /** Of the present start of the machine; '' where the system does not say. */
  boot(): string
  /** Null when there is no such process, or it has ended. */
  find(pid: number): ProcessName | null
  isAlive(name: ProcessName): boolean
  /** The process, who started it, who started that one, and so on, with the name of what each runs. */
  listChain(pid: number): { readonly pid: number; readonly command: string }[]
}
