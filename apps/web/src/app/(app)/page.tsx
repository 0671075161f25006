import { FirstMachine } from '#features/machines/first-machine.tsx'
import { ProjectChooser } from '#features/projects/project-chooser.tsx'

export default function HomePage() {
  return <ProjectChooser empty={<FirstMachine project={null} />} />
}
