import {
  BookMarked,
  Bot,
  CalendarClock,
  CalendarPlus,
  FilePen,
  FilePenLine,
  FileSearch,
  FileText,
  FolderSearch,
  Globe,
  type IconComponent,
  Image,
  ListTodo,
  Terminal,
  Wrench,
} from "../../_ui/icons.tsx";

const icons: Readonly<Record<string, IconComponent>> = {
  bash: Terminal,
  read: FileText,
  write: FilePen,
  edit: FilePenLine,
  grep: FileSearch,
  glob: FolderSearch,
  fetch: Globe,
  skill: BookMarked,
  task: Bot,
  todo: ListTodo,
  web_search: Globe,
  schedule: CalendarPlus,
  list_schedules: CalendarClock,
  make_media: Image,
};

/** Returns the icon of a tool by its name; the agent's own tools have one each. */
export const toolIcon = (name: string): IconComponent => icons[name] ?? Wrench;
