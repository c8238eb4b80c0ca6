import {
  BookOpen,
  BookOpenCheck,
  CalendarClock,
  ChartColumn,
  Clapperboard,
  Disc3,
  FlaskConical,
  FolderOpen,
  type IconComponent,
  KeyRound,
  LayoutTemplate,
  ListChecks,
  MicVocal,
  Plug,
  Settings,
} from "../_ui/icons.tsx";

/** A page. `g` and then its key open it. */
export type NavItem = Readonly<{ href: string; label: string; icon: IconComponent; key?: string }>;
export type NavGroup = Readonly<{ label: string; items: readonly NavItem[] }>;

/** The pages beside the chats, in their order. The first group needs no heading. */
export const navGroups: readonly NavGroup[] = [
  {
    label: "Work",
    items: [
      { href: "/artists", label: "Artists", icon: MicVocal, key: "a" },
      { href: "/files", label: "Files", icon: FolderOpen },
      { href: "/content", label: "Content", icon: Clapperboard, key: "m" },
      { href: "/schedules", label: "Schedules", icon: CalendarClock },
    ],
  },
  {
    label: "More",
    items: [
      { href: "/catalog", label: "Catalog", icon: Disc3 },
      { href: "/templates", label: "Templates", icon: LayoutTemplate, key: "t" },
      { href: "/skills", label: "Skills", icon: BookOpenCheck },
      { href: "/connectors", label: "Connectors", icon: Plug },
      { href: "/runs", label: "Runs", icon: ListChecks, key: "r" },
    ],
  },
  {
    label: "Developers",
    items: [
      { href: "/usage", label: "Usage", icon: ChartColumn, key: "u" },
      { href: "/keys", label: "API keys", icon: KeyRound, key: "k" },
      { href: "/playground", label: "Playground", icon: FlaskConical },
      { href: "/docs", label: "Docs", icon: BookOpen, key: "d" },
    ],
  },
];

/** At the foot of the sidebar, beside the account. */
export const settingsItem: NavItem = {
  ...{ href: "/settings", label: "Settings", icon: Settings, key: "s" },
};

export const isWithin = (path: string, href: string): boolean =>
  path === href || path.startsWith(`${href}/`);

/** All pages but the chats. */
export const navItems = [...navGroups.flatMap(({ items }) => items), settingsItem];
