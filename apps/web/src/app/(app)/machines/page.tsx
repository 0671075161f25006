import type { Metadata } from 'next'
import { MachineList } from '#features/machines/machine-list.tsx'

export const metadata: Metadata = { title: 'Machines' }

export default function MachinesPage() {
  return <MachineList project={null} />
}
