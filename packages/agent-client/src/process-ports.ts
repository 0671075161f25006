/** A process that is told apart from another one with the same number, before and after a restart of the machine. */
export interface ProcessName {
  readonly pid: number
  /** What the system says of its start, only compared; '' where it says nothing. */
  readonly started: string
  readonly boot: string
}

/** One that may have been seen from another PID namespace, as a container has: its number is good only there. */
export interface AgentProcess extends ProcessName {
  /** '' where there are no such namespaces, or it was not noted. */
  readonly space: string
}

/** Other processes of this machine. */
export interface Processes {
  /** Of the present start of the machine; '' where the system does not say. */
  boot(): string
  /** Null when there is no such process, or it has ended. */
  find(pid: number): AgentProcess | null
  isAlive(name: ProcessName): boolean
  /** True for one that may live, and that nobody here can look for. */
  isOutOfSight(agent: AgentProcess): boolean
  /** The process, who started it, who started that one, and so on, with the name of what each runs. */
  listChain(pid: number): { readonly pid: number; readonly command: string }[]
}
