import { ProjectChooser } from '#features/projects/project-chooser.tsx'

export default function HomePage() {
  return <ProjectChooser />
}
